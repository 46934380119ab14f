import { LINES } from '../focus'
import { linesOf } from '../layers'
import type { ChartUnit } from '../unit'
import { timeVsSizeCsv, timeVsSizeOption } from './option'

export default {
  id: 'time',
  title: 'Time',
  about: 'Median time per call against size, with its 95 % interval',
  order: 10,
  narrowing: LINES,
  layers: true,
  draw(context) {
    const { series, drawn, note } = linesOf(context, 24)
    return { option: timeVsSizeOption(drawn, context.theme, context.selected, context.size.width), empty: 'No result here has a size that this chart knows. The table shows them all.', ...(note ? { note } : {}), csv: () => timeVsSizeCsv(series) }
  },
} satisfies ChartUnit
