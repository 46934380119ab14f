import { findCrossovers } from '../crossover/chart'
import { sentenceOf } from '../crossover/option'
import { LINES } from '../data/focus'
import { linesOf } from '../data/layers'
import type { ChartUnit } from '../unit'
import { timeVsSizeCsv, timeVsSizeOption } from './option'

/** With more lines than this rings would stand everywhere; the chart of crossovers has them all. */
const MOST_CROSSED = 8

export default {
  id: 'time',
  title: 'Time',
  about: 'Median time per call against size, with its 95 % CI',
  order: 10,
  narrowing: LINES,
  layers: true,
  draw(context) {
    const { series, drawn, note } = linesOf(context, 24)
    const crossings = drawn.length > MOST_CROSSED ? [] : findCrossovers(context.points).found.map((one) => ({ size: one.at.size, ns: one.at.ns, sentence: `${one.what}: ${sentenceOf(one)}` }))
    return { option: timeVsSizeOption(drawn, context.theme, context.selected, context.size.width, crossings), empty: 'No result here has a size that this chart knows. The table shows them all.', ...(note ? { note } : {}), csv: () => timeVsSizeCsv(series) }
  },
} satisfies ChartUnit
