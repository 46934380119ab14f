import type { ChartPoint } from '../data/points'
import type { ChartSeries } from '../data/series'
import type { Datum } from '../drawing/option/frame'
import { baselineControl, speedups } from '../speedup/pairs'
import type { ChartContext, Control } from '../unit'

/** How the axis of values is divided. */
export type Scale = 'log' | 'linear'

/** Chooses a linear or logarithmic axis; `preferred` where the user has not. */
export const scaleControl = (preferred: Scale): Control => ({ id: 'scale', label: 'Scale', options: [{ value: 'log', title: 'Log scale' }, { value: 'linear', title: 'Linear scale' }], preferred })

const ABSOLUTE = 'absolute'

/** Chooses figures as measured, or speedups over a baseline. */
export const valuesControl = (context: Pick<ChartContext, 'all' | 'others'>): Control => ({
  id: 'values',
  label: 'Values',
  options: [{ value: ABSOLUTE, title: 'As measured' }, ...baselineControl(context).options.map(({ value, title }) => ({ value, title: title.replace(/^over /, 'Speedup over ') }))],
  preferred: ABSOLUTE,
})

/** Speedups over a baseline by result, with the baseline at 1. */
export interface Relative {
  /** `cuda kernel`. */
  baseline: string
  of(series: ChartSeries): Datum[]
}

/** What the user has normalised to; undefined where figures are shown as measured. */
export function relativeOf(context: Pick<ChartContext, 'all' | 'points' | 'others' | 'values'>): Relative | undefined {
  const chosen = context.values['values'] ?? ABSOLUTE
  const option = valuesControl(context).options.find(({ value }) => value === chosen)
  if (!option || chosen === ABSOLUTE) return undefined
  const found = speedups(context, chosen)
  const byId = new Map(found.map((one) => [one.point.id, one]))
  const bases = new Set(found.map(({ base }) => base.id))
  const datum = (point: ChartPoint, size: number): Datum[] => {
    const one = byId.get(point.id)
    if (one) return [[size, one.ratio, one.low ?? NaN, one.high ?? NaN, point.id]]
    return bases.has(point.id) ? [[size, 1, NaN, NaN, point.id]] : []
  }
  return { baseline: option.title.replace(/^Speedup over /, ''), of: ({ points }) => points.flatMap(({ point, size }) => datum(point, size)) }
}
