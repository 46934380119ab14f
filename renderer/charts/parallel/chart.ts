import type { ChartUnit } from '../unit'
import { dimensionsOf } from './axes'
import { brushedIds, MOST_LINES, parallelCsv, parallelOption } from './option'

export default {
  id: 'parallel',
  title: 'Parallel axes',
  about: 'All results across everything that varies; drag along an axis to select',
  order: 90,
  brushes: true,
  draw({ points, theme, selected, size }) {
    const dimensions = dimensionsOf(points)
    return {
      option: parallelOption(points, dimensions, theme, selected, size.width),
      empty: 'Parallel axes need results that differ in something beside their time: measure more sizes, operations or backends.',
      note: points.length > MOST_LINES ? { text: `About ${MOST_LINES.toLocaleString('en')} of ${points.length.toLocaleString('en')} lines`, about: 'Every n-th result is drawn, and the selected ones; brushing selects from all' } : { text: 'Drag along an axis to select; double click clears' },
      brushed: (intervals) => brushedIds(points, dimensions, intervals),
      csv: () => parallelCsv(points, dimensions),
    }
  },
} satisfies ChartUnit
