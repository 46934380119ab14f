import { LINES } from '../data/focus'
import { linesOf } from '../data/layers'
import { groupSeries } from '../data/series'
import type { ChartUnit } from '../unit'
import { preferredRate, throughputCsv, throughputOption, type Rate } from './option'

export default {
  id: 'throughput',
  title: 'Throughput',
  about: 'Bandwidth or arithmetic rate against size, under the measured limits',
  order: 20,
  narrowing: LINES,
  layers: true,
  controls: ({ points }) => [{ id: 'rate', label: 'Rate', options: [{ value: 'bandwidth', title: 'GB/s' }, { value: 'flops', title: 'FLOP/s' }], preferred: preferredRate(groupSeries(points).series) }],
  draw(context) {
    const rate: Rate = context.values['rate'] === 'flops' ? 'flops' : 'bandwidth'
    const { series, drawn, note } = linesOf(context, 24)
    return {
      option: throughputOption(drawn, rate, context.roofs, context.theme, context.selected, context.size),
      empty: rate === 'flops' ? 'None of these operations does arithmetic. Choose GB/s instead.' : 'No result here moves data of a known size.',
      ...(note ? { note } : {}),
      csv: () => throughputCsv(series),
    }
  },
} satisfies ChartUnit
