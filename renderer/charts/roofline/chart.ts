import { linesOf } from '../data/layers'
import type { ChartUnit } from '../unit'
import { rooflineCsv, rooflineOption } from './option'

/** Marks lie apart by intensity, so that more of them can be read than lines. */
const MOST_SERIES = 60

export default {
  id: 'roofline',
  title: 'Roofline',
  about: 'Arithmetic rate against intensity under measured (solid) and published (dashed) limits',
  order: 30,
  // Operations stay: each has its own intensity, and one alone would be a single column.
  narrowing: { readable: 36, facets: ['mode', 'dtype', 'threads', 'backend', 'impl'], frequent: true, fastest: ['backend', 'impl'] },
  takes: (points) => points.filter((point) => point.flops > 0 && point.bytes > 0),
  layers: true,
  draw(context) {
    const { series, drawn, note } = linesOf(context, MOST_SERIES, MOST_SERIES)
    const limits = [context, ...context.others]
    const layers = limits.map((layer, i) => ({ name: layer.name, series: drawn.filter((one) => (one.layer ?? 0) === i), roofs: layer.roofs, datasheets: layer.datasheets }))
    const option = rooflineOption(layers, context.theme, context.selected, context.size.width)
    const remark = option && !limits.some(({ roofs }) => roofs.length) ? { text: 'No measured roofs', about: "The ceilings of this session's devices have not been measured here. Measure them in Devices." } : note
    return {
      option,
      empty: 'None of these operations does arithmetic, so they have no place on a roofline.',
      ...(remark ? { note: remark } : {}),
      csv: () => rooflineCsv(series, limits.flatMap(({ roofs }) => roofs), limits.flatMap(({ datasheets }) => datasheets)),
    }
  },
} satisfies ChartUnit
