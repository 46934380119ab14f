import { sizeOf } from '@core/analysis/size'
import { roofFinder, roofline } from '@core/roofline/roofline'
import { geometricMean } from '@core/stats/descriptive'
import { describe, varyingFacets, type Facet } from '../data/series'
import { baselineControl, noSpeedup, speedups } from '../speedup/pairs'
import type { ChartPoint } from '../types'
import type { ChartContext, ChartUnit } from '../unit'
import { heatMapCsv, heatMapHeight, heatMapOption, type Shown } from './option'

/** Share of what the measured roofs of its device allow, for each point that has one. */
function shares({ points, ceilings }: Pick<ChartContext, 'points' | 'ceilings'>): CellValue[] {
  const roofsAt = roofFinder(ceilings)
  return points.flatMap((point) => {
    const value = roofline(point, roofsAt(point.case))?.efficiency
    return value === undefined ? [] : [{ point, value }]
  })
}

/** 1.4826 MAD / median, which for normal samples is their relative standard deviation (Rousseeuw and Croux 1993). */
const NORMAL_MAD = 1.4826
const spreads = ({ points }: Pick<ChartContext, 'points'>): CellValue[] => points.flatMap((point) => (point.madNs === undefined ? [] : [{ point, value: (NORMAL_MAD * point.madNs) / point.medianNs }]))

const EMPTY = (context: ChartContext, baseline: string): Readonly<Record<Shown, string>> => ({
  share: "The ceilings of this session's devices have not been measured here, so there is nothing to take a share of. Measure them in Devices, or show another value.",
  speedup: noSpeedup(context, baseline),
  spread: 'None of these results has samples enough to tell how much they spread.',
})

const preferredValue = (hasRoofs: boolean, hasBaselines: boolean): Shown => (hasRoofs ? 'share' : hasBaselines ? 'speedup' : 'spread')

export default {
  id: 'heat-map',
  title: 'Heat map',
  about: 'Operations against sizes: share of the ceiling, speedup or spread as colour',
  order: 60,
  narrowing: { readable: 14, facets: ['backend', 'impl', 'device', 'mode', 'dtype', 'threads'], frequent: true, fastest: ['backend', 'impl'] },
  worth: ({ all, ceilings, roofs }, picked) => {
    const baselines = baselineControl({ all, others: [] })
    const shown = picked['value'] ?? preferredValue(roofs.length > 0, baselines.options.length > 0)
    if (shown === 'speedup') return speedups({ all, points: all, others: [] }, picked['baseline'] ?? baselines.preferred ?? baselines.options[0]?.value ?? '').map(({ point }) => point)
    return (shown === 'share' ? shares({ points: all, ceilings }) : spreads({ points: all })).map(({ point }) => point)
  },
  controls(context, picked) {
    const baselines = baselineControl(context)
    const preferred = preferredValue(context.roofs.length > 0, baselines.options.length > 0)
    const value = { id: 'value', label: 'Value of the cells', options: [{ value: 'share', title: 'Share of the ceiling' }, { value: 'speedup', title: 'Speedup' }, { value: 'spread', title: 'Spread' }], preferred }
    return (picked['value'] ?? preferred) === 'speedup' ? [value, baselines] : [value]
  },
  draw(context) {
    const shown = context.values['value'] as Shown
    const baseline = context.values['baseline'] ?? ''
    const title = baselineControl(context).options.find(({ value }) => value === baseline)?.title.replace(/^against /, '') ?? ''
    const values = shown === 'share' ? shares(context) : shown === 'spread' ? spreads(context) : speedups(context, baseline).map(({ point, ratio }) => ({ point, value: ratio }))
    const grid = gridOf(values)
    return { option: heatMapOption(grid, shown, title, context.theme, context.selected, context.size.width), height: heatMapHeight(grid.rows.length), empty: EMPTY(context, baseline)[shown], csv: () => heatMapCsv(grid, shown) }
  },
} satisfies ChartUnit

/** A value of a result that a cell can show. */
interface CellValue {
  point: ChartPoint
  value: number
}

export interface Cell extends CellValue {
  column: number
  row: number
  /** Results behind the cell: several where sizes share a column. */
  count: number
}

export interface Grid {
  /** Sizes in elements, ascending; the smallest of each column. */
  sizes: number[]
  rows: string[]
  cells: Cell[]
}

/** More columns than this are joined by powers of two. */
const MOST_COLUMNS = 20

/** Sizes against operations, with whatever else tells results apart in the name of the row. Of repeated cases the last stands; sizes that share a column have their geometric mean. */
export function gridOf(values: readonly CellValue[]): Grid {
  const placed = values.flatMap((one) => {
    const size = sizeOf(one.point.case)
    return size === undefined ? [] : [{ ...one, size }]
  })
  const all = [...new Set(placed.map((one) => one.size))].sort((a, b) => a - b)
  const column = all.length <= MOST_COLUMNS ? (size: number) => size : (size: number) => 2 ** Math.floor(Math.log2(size))
  const sizes = [...new Set(all.map(column))]
  const facets = placed.map((one) => describe(one.point.case).facets)
  const naming: readonly Facet[] = ['op', ...varyingFacets(facets).filter((facet) => facet !== 'op')]
  const rows = [...new Set(facets.map((f) => naming.map((facet) => f[facet]).filter(Boolean).join(' · ')))]
  const cells = new Map<string, Map<string, CellValue>>()
  placed.forEach((one, i) => {
    const key = `${sizes.indexOf(column(one.size))} ${rows.indexOf(naming.map((facet) => facets[i]![facet]).filter(Boolean).join(' · '))}`
    cells.set(key, (cells.get(key) ?? new Map<string, CellValue>()).set(describe(one.point.case).id, one))
  })
  return {
    sizes,
    rows,
    cells: [...cells].map(([key, own]) => {
      const [at, row] = key.split(' ').map(Number) as [number, number]
      const list = [...own.values()]
      const last = list.at(-1)!
      return { column: at, row, point: last.point, value: list.length > 1 ? (geometricMean(list.map((one) => one.value)) ?? last.value) : last.value, count: list.length }
    }),
  }
}
