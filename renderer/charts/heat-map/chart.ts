import { sizeOf } from '@core/analysis/size'
import { csvTable } from '@core/csv'
import { roofFinder, roofline } from '@core/roofline/roofline'
import { geometricMean } from '@core/stats/descriptive'
import { formatInteger, formatPercent, formatRatio, formatSizeTick, formatTime, localNumber } from '@core/units'
import { axisStyle } from '../drawing/option/axes'
import type { ChartPoint } from '../data/points'
import { describe, varyingFacets, type Facet } from '../data/series'
import { frame, intervalText, tooltipHtml } from '../drawing/option/frame'
import { colorAt, diverging, inkOn, SEQUENTIAL, type ChartTheme } from '../drawing/theme/theme'
import { baselineControl, noSpeedup, speedups } from '../speedup/pairs'
import type { ChartContext, ChartUnit } from '../unit'

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
  spread: 'None of these results has enough samples for a spread.',
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
    const title = baselineControl(context).options.find(({ value }) => value === baseline)?.title.replace(/^over /, '') ?? ''
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

interface Grid {
  /** Sizes in elements, ascending; the smallest of each column. */
  sizes: number[]
  rows: string[]
  cells: Cell[]
}

/** More columns than this are joined by powers of two. */
const MAX_COLUMNS = 20

/** Sizes against operations, with whatever else tells results apart in the name of the row. Of repeated cases the last stands; sizes that share a column have their geometric mean. */
export function gridOf(values: readonly CellValue[]): Grid {
  const placed = values.flatMap((one) => {
    const size = sizeOf(one.point.case)
    return size === undefined ? [] : [{ ...one, size }]
  })
  const all = [...new Set(placed.map((one) => one.size))].sort((a, b) => a - b)
  const column = all.length <= MAX_COLUMNS ? (size: number) => size : (size: number) => 2 ** Math.floor(Math.log2(size))
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

/** Column and row of the places that have no cell. */
function absentFrom({ sizes, rows, cells }: Grid): [column: number, row: number][] {
  const taken = new Set(cells.map(({ column, row }) => row * sizes.length + column))
  return Array.from({ length: rows.length * sizes.length }, (_, at) => at).filter((at) => !taken.has(at)).map((at) => [at % sizes.length, Math.floor(at / sizes.length)])
}

/** What the cells show: a share of what the device allows, how many times as fast as the baseline, or the spread of the samples. */
type Shown = 'share' | 'speedup' | 'spread'

const ROW_PX = 19
const MARGINS_PX = 62

/** Height in px that so many rows need. */
const heatMapHeight = (rows: number): number => rows * ROW_PX + MARGINS_PX

const TITLES: Readonly<Record<Shown, string>> = { share: 'Of the measured ceiling', speedup: 'Speedup', spread: 'Spread of the samples (MAD)' }
const WORDS: Readonly<Record<Shown, (value: number) => string>> = { share: formatPercent, speedup: formatRatio, spread: formatPercent }
/** Short enough for a cell: `87 %`, `1.04x`, `24x`. */
const SHORT: Readonly<Record<Shown, (value: number) => string>> = {
  share: (value) => `${Math.round(value * 100)} %`,
  speedup: (value) => `${value >= 9.995 ? formatInteger(Math.round(value)) : localNumber(value.toFixed(2))}x`,
  spread: (value) => `${localNumber((value * 100).toFixed(value < 0.0995 ? 1 : 0))} %`,
}

/** Ends of the colours on the scale of `scaled`. Speedups are symmetric around none, so that the neutral colour stands for it. */
function colours(shown: Shown, values: readonly number[], theme: ChartTheme) {
  const most = values.reduce((a, b) => Math.max(a, b), 0)
  if (shown === 'speedup') {
    const reach = values.reduce((top, value) => Math.max(top, Math.abs(Math.log2(value))), 0.1)
    return { palette: diverging(theme), min: -reach, max: reach, scaled: Math.log2, words: (value: number) => `${localNumber(String(Number((2 ** value).toPrecision(2))))}x` }
  }
  // Above its ceiling a case is answered from caches: one colour for all of that.
  const max = shown === 'share' ? 1 : Math.max(most, 0.01)
  return { palette: SEQUENTIAL, min: 0, max, scaled: (value: number) => Math.min(value, max), words: (value: number) => `${localNumber(String(Number((value * 100).toPrecision(2))))} %` }
}

/** Cells narrower than the text of a value plus this are left without it, in px. */
const TEXT_MARGIN = 6

/** Operations against sizes, a value as the colour and, where it fits, the text of each cell. Undefined for an empty grid. `width` of the plot in px. */
export function heatMapOption(grid: Grid, shown: Shown, baseline: string, theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  if (!grid.cells.length) return undefined
  const values = grid.cells.map((cell) => cell.value)
  const scale = colours(shown, values, theme)
  const left = Math.min(28 + Math.max(...grid.rows.map((row) => row.length)) * 6.2, width * 0.36)
  const texts = grid.cells.map((cell) => SHORT[shown](cell.value))
  const fits = (width - left - 24) / grid.sizes.length >= Math.max(...texts.map((text) => text.length)) * 6 + TEXT_MARGIN
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const title = shown === 'speedup' ? `Speedup over ${baseline}` : TITLES[shown]
  const cellOf = new Map(grid.cells.map((cell) => [cell.point.id, cell]))
  const absent = absentFrom(grid)
  return {
    ...base,
    grid: { left, right: 24, top: 52, bottom: 10 },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: [number, number, number, string] }) => {
        const cell = cellOf.get(item.value[3])
        if (!cell) return ''
        const size = grid.sizes[cell.column]!
        return tooltipHtml(grid.rows[cell.row]!, [
          ['Size', cell.count > 1 ? `${formatSizeTick(size)} to ${formatSizeTick(size * 2)}, ${cell.count} results` : `${formatInteger(size)} elements`],
          [cell.count > 1 ? `${title}, geometric mean` : title, WORDS[shown](cell.value)],
          ...(cell.count > 1 ? [] : [['Median', formatTime(cell.point.medianNs)] as const, ['95 % CI', intervalText(cell.point)] as const]),
          ['Grade', cell.point.grade ?? '–'],
        ])
      },
    },
    visualMap: {
      type: 'continuous' as const, seriesIndex: 0, min: scale.min, max: scale.max, dimension: 2, calculable: false, orient: 'horizontal' as const, top: 6, right: 24, itemWidth: 10, itemHeight: Math.min(220, width * 0.24),
      inRange: { color: [...scale.palette] }, text: [scale.words(scale.max), scale.words(scale.min)], textStyle: { color: theme.muted, fontSize: 11 }, textGap: 8, padding: 0,
    },
    title: { text: `${title}, by size in elements${absent.length > 0 ? '; – = no value' : ''}`, left: 8, top: 4, textStyle: { color: theme.text, fontSize: 12, fontWeight: 600 as const, fontFamily: theme.fontText } },
    xAxis: { ...style, type: 'category' as const, data: grid.sizes.map(formatSizeTick), position: 'top' as const, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { ...style.axisLabel, hideOverlap: true } },
    yAxis: { ...style, type: 'category' as const, inverse: true, data: grid.rows, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { ...style.axisLabel, interval: 0, width: left - 16, overflow: 'truncate' as const, color: theme.text } },
    series: [
      {
        type: 'heatmap' as const,
        id: 'cells',
        // The frame of a selected cell lies over its neighbours.
        data: grid.cells.map((cell, i) => {
          const at = scale.scaled(cell.value)
          const fill = colorAt(scale.palette, (at - scale.min) / (scale.max - scale.min))
          return {
            value: [cell.column, cell.row, at, cell.point.id],
            itemStyle: selected.has(cell.point.id) ? { borderColor: theme.accent, borderWidth: 3 } : { borderColor: theme.surface, borderWidth: 1 },
            label: { show: fits, formatter: texts[i]!, color: inkOn(fill), fontSize: 11, fontFamily: theme.fontText },
          }
        }).sort((a, b) => Number(selected.has(String(a.value[3]))) - Number(selected.has(String(b.value[3])))),
        dimensions: ['column', 'row', 'value', 'id'],
        encode: { x: 0, y: 1 },
        emphasis: { itemStyle: { borderColor: theme.text, borderWidth: 2 } },
      },
      // Not measured, failed, or without what the value is taken of: a dash, so that no cell looks forgotten.
      { type: 'scatter' as const, id: 'absent', silent: true, symbolSize: 0, data: absent, label: { show: true, formatter: '–', color: theme.muted, fontSize: 11, fontFamily: theme.fontText } },
    ] as const,
  }
}

/** Every cell as CSV. */
const heatMapCsv = (grid: Grid, title: string): string =>
  csvTable(
    ['row', 'size_elements', title, 'results', 'median_ns'],
    grid.cells.map((cell) => [grid.rows[cell.row], grid.sizes[cell.column], cell.value, cell.count, cell.count > 1 ? undefined : cell.point.medianNs]),
  )
