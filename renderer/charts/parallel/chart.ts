import { sizeOf } from '@core/analysis/size'
import { csvTable } from '@core/csv'
import { formatInteger, formatSize, formatSizeTick, formatTime } from '@core/units'
import { tick, logBounds, logTicks } from '../drawing/option/axes'
import { remembered, type ChartPoint } from '../data/points'
import { describe, type Facet } from '../data/series'
import { frame, intervalText, legendOf, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit, Intervals } from '../unit'
import { variantsOf } from '../data/variants'

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
      note: points.length > MAX_LINES ? { text: `About ${formatInteger(MAX_LINES)} of ${formatInteger(points.length)} lines`, about: 'Every n-th result is drawn, and the selected ones; brushing selects from all' } : { text: 'Drag along an axis to select; double click clears' },
      brushed: (intervals) => brushedIds(points, dimensions, intervals),
      csv: () => parallelCsv(points, dimensions),
    }
  },
} satisfies ChartUnit

/** More lines than this hide each other, and take longer than a frame to draw. */
const MAX_LINES = 1500

/** Every n-th point so that the limit holds, with all selected ones up to the limit. */
export function thinLines(points: readonly ChartPoint[], selected: ReadonlySet<string>, most = MAX_LINES): readonly ChartPoint[] {
  if (points.length <= most) return points
  const step = Math.ceil(points.length / most)
  let kept = 0
  return points.filter((point, i) => i % step === 0 || (selected.has(point.id) && ++kept <= most))
}

const axisOf = (dimension: Dimension, dim: number, theme: ChartTheme, width: number) => {
  const shared = {
    dim,
    id: dimension.id,
    name: dimension.title,
    nameTextStyle: { color: theme.text, fontSize: 11, fontWeight: 600 as const, fontFamily: theme.fontText },
    axisLine: { lineStyle: { color: theme.muted } },
    realtime: false,
    areaSelectStyle: { width: 18, borderWidth: 1, borderColor: theme.accent, color: theme.accent, opacity: 0.2 },
  }
  // Over a halo: lines run behind the words.
  const label = { color: theme.text, fontSize: 11, fontFamily: theme.fontText, width, overflow: 'truncate' as const, textBorderColor: theme.surface, textBorderWidth: 4 }
  if (dimension.words) {
    const ticks = dimension.words.map((_, i) => i)
    return { ...shared, type: 'value' as const, inverse: true, min: -0.5, max: dimension.words.length - 0.5, splitLine: { show: false }, axisTick: { show: false, customValues: ticks }, axisLabel: { ...label, customValues: ticks, formatter: dimension.format } }
  }
  return { ...shared, type: 'log' as const, logBase: dimension.id === 'median' ? 10 : 2, ...dimension.bounds, axisTick: { customValues: dimension.ticks }, axisLabel: { ...label, customValues: dimension.ticks, formatter: tick(dimension.format) } }
}

/** A line for each result over upright axes of what varies, in the colour of its implementation. Undefined with fewer than two axes. `width` of the plot in px. */
function parallelOption(points: readonly ChartPoint[], dimensions: readonly Dimension[], theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  if (dimensions.length < 2 || !points.length) return undefined
  const drawn = thinLines(points, selected)
  const { variants, of } = variantsOf(points)
  const bundles = bundlesOf(points, dimensions)
  const byId = new Map(drawn.map((point) => [point.id, point]))
  const picked = drawn.some((point) => selected.has(point.id))
  const base = frame(theme, [])
  const { legend, height } = legendOf(theme, variants.map(({ title }) => title), 16, width)
  const between = (width - 110) / (dimensions.length - 1)
  const opacity = picked ? 0.1 : Math.min(0.7, Math.max(0.12, 40 / Math.sqrt(drawn.length * 10)))
  return {
    ...base,
    // Drag brushes: there is no zoom to arm.
    toolbox: { show: false },
    legend: { ...legend, icon: 'roundRect', selectedMode: false as const },
    parallel: { left: 36, right: 74, top: height + 30, bottom: 14, layout: 'horizontal' as const, parallelAxisDefault: { nameLocation: 'start' as const, nameGap: 12 } },
    parallelAxis: dimensions.map((dimension, i) => ({ ...axisOf(dimension, i, theme, Math.max(60, Math.min(110, between - 24))), nameLocation: dimension.words ? ('start' as const) : ('end' as const), nameGap: 12 })),
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: unknown[] }) => {
        const point = byId.get(String(item.value.at(-1)))
        if (!point) return ''
        return tooltipHtml(of(point.case), [
          ...dimensions.filter(({ id }) => id !== 'median').map((dimension) => [dimension.title, Number.isNaN(dimension.at(point)) ? '–' : dimension.format(dimension.at(point))] as const),
          ['Median', `${formatTime(point.medianNs)} ${intervalText(point)}`],
          ['Grade', point.grade ?? '–'],
        ])
      },
    },
    series: variants.map(({ id, title, backend, impl, device }) => {
      const color = theme.colorOf(backend, impl, device)
      return {
        type: 'parallel' as const,
        id,
        name: title,
        color,
        itemStyle: { color },
        lineStyle: { color, width: 1.25, opacity },
        inactiveOpacity: 0.03,
        activeOpacity: picked ? 0.1 : Math.max(opacity, 0.5),
        emphasis: { lineStyle: { width: 2.5, opacity: 1 } },
        progressive: 0,
        data: drawn
          .filter((point) => of(point.case) === id)
          .map((point) => ({ value: [...dimensions.map((dimension) => crossingOf(dimension, point, id, bundles)), point.id], ...(selected.has(point.id) ? { lineStyle: { color, width: 2, opacity: 0.95 } } : {}) })),
      }
    }),
  }
}

/** Ids of the points that cross all brushed axes within an interval; none where nothing is brushed. */
export function brushedIds(points: readonly ChartPoint[], dimensions: readonly Dimension[], intervals: Intervals): string[] {
  const brushed = dimensions.filter((dimension) => intervals.has(dimension.id))
  if (!brushed.length) return []
  const { of } = variantsOf(points)
  const bundles = bundlesOf(points, dimensions)
  const inside = (dimension: Dimension, point: ChartPoint) => {
    const at = crossingOf(dimension, point, of(point.case), bundles)
    return intervals.get(dimension.id)!.some(([a, b]) => at >= Math.min(a, b) && at <= Math.max(a, b))
  }
  return points.filter((point) => brushed.every((dimension) => inside(dimension, point))).map((point) => point.id)
}

/** Every point with its value on each axis, as CSV. */
const parallelCsv = (points: readonly ChartPoint[], dimensions: readonly Dimension[]): string =>
  csvTable(
    [...dimensions.map(({ id }) => id), 'median_ns', 'ci_low_ns', 'ci_high_ns'],
    points.map((point) => [...dimensions.map((dimension) => (dimension.words ? dimension.format(dimension.at(point)) : dimension.at(point))), point.medianNs, point.ciLowNs, point.ciHighNs]),
  )

/** One upright axis: words in even places, or numbers on a logarithmic scale. */
interface Dimension {
  id: string
  title: string
  /** Words from top to bottom; absent for numbers. */
  words?: string[]
  bounds?: { min: number; max: number }
  ticks?: number[]
  format(value: number): string
  /** Where a point crosses the axis; NaN where it has no such value. */
  at(point: ChartPoint): number
}

const TITLES: Readonly<Partial<Record<Facet, string>>> = { op: 'Operation', dtype: 'Dtype', backend: 'Backend', impl: 'Implementation', device: 'Device', mode: 'Mode' }

/** More words than this on one axis are unreadable; the rest share the last place. */
const MAX_WORDS = 40

function words(facet: Facet, points: readonly ChartPoint[]): Dimension | undefined {
  const values = [...new Set(points.map((point) => describe(point.case).facets[facet]))]
  if (values.length < 2) return undefined
  const shown = values.length > MAX_WORDS ? [...values.slice(0, MAX_WORDS - 1), `${values.length - MAX_WORDS + 1} others`] : values
  const places = new Map(values.map((value, i) => [value, Math.min(i, shown.length - 1)]))
  return { id: facet, title: TITLES[facet] ?? facet, words: shown, format: (value) => shown[Math.round(value)] ?? '', at: (point) => places.get(describe(point.case).facets[facet])! }
}

function numbers(id: string, title: string, base: number, format: (value: number) => string, at: (point: ChartPoint) => number, points: readonly ChartPoint[]): Dimension | undefined {
  const values = points.map(at).filter(Number.isFinite)
  const bounds = logBounds(values, base)
  return bounds && new Set(values).size > 1 ? { id, title, bounds, ticks: logTicks(bounds, base), format, at } : undefined
}

/** The axes that vary among these points: what was asked for, then size, threads, and what was measured. */
export const dimensionsOf = (points: readonly ChartPoint[]): Dimension[] => remembered(points, 'dimensions', () => findDimensions(points))

function findDimensions(points: readonly ChartPoint[]): Dimension[] {
  const facets: readonly Facet[] = ['op', 'dtype', 'mode', 'backend', 'impl', 'device']
  const named = facets.flatMap((facet) => words(facet, points) ?? [])
  // A backend with one implementation and one device says all three at once.
  const same = (a: Dimension, b: Dimension) => points.every((point) => a.at(point) === b.at(point))
  const distinct = named.filter((dimension, i) => !named.slice(0, i).some((before) => before.id === 'backend' && same(before, dimension)))
  return [
    ...distinct,
    ...[
      numbers('size', 'Size', 2, (value) => formatSizeTick(value), (point) => sizeOf(point.case) ?? NaN, points),
      numbers('threads', 'Threads', 2, formatSize, (point) => point.case.threads ?? NaN, points),
      numbers('median', 'Median', 10, (value) => formatTime(value), (point) => point.medianNs, points),
    ].flatMap((dimension) => dimension ?? []),
  ]
}

/** Half the width of the widest bundle of lines at a word, in places. */
const BUNDLE = 0.3

/** A place from -1 to 1 for a line, the same each time: lines of one word lie beside each other and not on top. */
export function jitter(id: string): number {
  let hash = 7
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) >>> 0
  return ((hash % 1000) / 999 - 0.5) * 2
}

/** The implementations whose lines pass a word, by axis and place of the word, in the order of the legend. */
export type Bundles = ReadonlyMap<Dimension, ReadonlyMap<number, readonly string[]>>

export const bundlesOf = (points: readonly ChartPoint[], dimensions: readonly Dimension[]): Bundles => {
  const { variants, of } = variantsOf(points)
  return new Map(dimensions.filter(({ words: named }) => named).map((dimension) => {
    const passing = new Map<number, Set<string>>()
    for (const point of points) passing.set(dimension.at(point), (passing.get(dimension.at(point)) ?? new Set()).add(of(point.case)))
    return [dimension, new Map([...passing].map(([at, ids]) => [at, variants.flatMap(({ id }) => (ids.has(id) ? [id] : []))]))]
  }))
}

/** Where the line of a point crosses an axis; `id` of its variant. Within the bundle of a word, each variant that passes it has a part of its own: no colour lies over the others. */
export const crossingOf = (dimension: Dimension, point: ChartPoint, id: string, bundles: Bundles): number => {
  const at = dimension.at(point)
  const passing = bundles.get(dimension)?.get(at)
  if (!passing) return at
  // A bundle of few is narrower, around its word.
  const half = BUNDLE * Math.min(1, 0.4 + 0.15 * passing.length)
  return at + half * ((2 * passing.indexOf(id) + 1) / passing.length - 1 + jitter(point.id + dimension.id) / passing.length)
}
