import { roofFinder, roofline } from '@core/roofline/roofline'
import { baselineControl, noSpeedup, speedups } from '../speedup/pairs'
import type { ChartContext, ChartUnit } from '../unit'
import { gridOf, type CellValue } from './grid'
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
