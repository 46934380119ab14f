import type { ChartUnit } from '../unit'
import { MOST_BARS, speedupCsv, speedupHeight, speedupOption, type SpeedupOrder } from './option'
import { baselineControl, noSpeedup, speedups } from './pairs'

/** Where the intervals come from: the page has medians with their intervals, not samples. */
const INTERVALS = 'Intervals of the ratios come from the intervals of both medians (MOVER on the log scale), as the samples are not at hand here; Compare resamples them.'

export default {
  id: 'speedup',
  title: 'Speedup',
  about: 'Speedup of each case over the baseline, with intervals and geometric means',
  order: 50,
  layers: true,
  controls: (context) => [
    baselineControl(context),
    { id: 'order', label: 'Order', options: [{ value: 'effect', title: 'Largest speedup first' }, { value: 'operation', title: 'By operation and size' }] },
  ],
  draw(context) {
    const baseline = context.values['baseline'] ?? ''
    const title = baselineControl(context).options.find(({ value }) => value === baseline)?.title.replace(/^against /, '') ?? ''
    const order: SpeedupOrder = context.values['order'] === 'operation' ? 'operation' : 'effect'
    const found = speedups(context, baseline)
    return {
      option: speedupOption(found, title, order, context.theme, context.selected, context.size.width),
      height: speedupHeight(Math.min(MOST_BARS, found.length)),
      empty: noSpeedup(context, baseline),
      ...(found.length > MOST_BARS
        ? { note: { text: `${MOST_BARS} of ${found.length.toLocaleString('en')} speedups`, about: `${order === 'effect' ? 'The largest and the smallest are drawn' : 'The first are drawn'}; means and CSV have all. ${INTERVALS}` } }
        : found.length ? { note: { text: 'Geometric means; intervals from those of the medians', about: INTERVALS } } : {}),
      csv: () => speedupCsv(found, title),
    }
  },
} satisfies ChartUnit
