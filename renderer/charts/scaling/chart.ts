import { LINES } from '../data/focus'
import type { ChartUnit } from '../unit'
import { scalingCsv, scalingOption } from './option'
import { alongOf, scalable, scaleSeries, type Along } from './series'

/** More lines than this in two small plots cannot be told apart. */
const MOST_SERIES = 10

const EMPTY: Readonly<Record<Along, string>> = {
  threads: 'Scaling needs the same case at two or more thread counts. Choose several thread counts of the CPU in Run.',
  size: 'Scaling with the size needs an operation at two or more sizes.',
  rows: 'Scaling with the batch needs an operation on matrices at two or more numbers of rows with the same row length, such as 1024x4096 and 4096x4096.',
}

export default {
  id: 'scaling',
  title: 'Scaling',
  about: 'Speedup and efficiency with more threads, with more rows in a call, or with larger inputs',
  order: 80,
  narrowing: { ...LINES, facets: ['op', 'mode', 'dtype'] },
  takes: (points, picked) => scalable(points, alongOf(points, picked['along'])),
  controls: ({ all }) => [
    { id: 'along', label: 'Along', options: [{ value: 'threads', title: 'With threads' }, { value: 'rows', title: 'With batch rows' }, { value: 'size', title: 'With size' }], preferred: alongOf(all, undefined) },
  ],
  draw({ points, values, theme, selected, size }) {
    const along: Along = alongOf(points, values['along'])
    const { series, omitted } = scaleSeries(points, along, MOST_SERIES)
    return {
      option: scalingOption(series, along, theme, selected, size.width),
      empty: EMPTY[along],
      ...(omitted ? { note: { text: `Largest ${series.length} of ${series.length + omitted} series`, about: 'CSV has every series' } } : {}),
      csv: () => scalingCsv(scaleSeries(points, along, Infinity).series, along),
    }
  },
} satisfies ChartUnit
