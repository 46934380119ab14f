import { looksOf } from '@core/analysis/looks'
import { sizeOf } from '@core/analysis/size'
import { csvTable } from '@core/csv'
import { formatInteger, formatSize, formatSizeTick, formatTime } from '@core/units'
import { tick, logBounds, logTicks } from '../drawing/option/axes'
import { remembered, type ChartPoint } from '../data/points'
import { describe, type Facet } from '../data/series'
import { frame, intervalText, legendOf, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit, Intervals } from '../unit'
import { variantsOf, type Variant } from '../data/variants'

export default {
  id: 'parallel',
  title: 'Parallel axes',
  about: 'All results across everything that varies; drag along an axis to select',
  order: 90,
  brushes: true,
  draw({ points, theme, selected, size }) {
    const dimensions = dimensionsOf(points)
    return {
      option: parallelOption(points, dimensions, theme, selected, size),
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

/** Px beside and below the axes. */
const MARGIN = { left: 36, right: 74, bottom: 14 }
/** Px of the titles above the axes. */
const TITLES_PX = 30
/** Diameter of a mark, and what it takes with a gap. */
const [MARK_PX, MARK_ROOM_PX] = [8, 9]

/**
 * A line for each result over upright axes of what varies, in the colour and dashes of its implementation, with its mark where it has room in a
 * bundle. Undefined with fewer than two axes.
 */
function parallelOption(points: readonly ChartPoint[], dimensions: readonly Dimension[], theme: ChartTheme, selected: ReadonlySet<string>, size: { width: number; height: number }) {
  if (dimensions.length < 2 || !points.length) return undefined
  const drawn = thinLines(points, selected)
  const { variants, of } = variantsOf(points)
  const bundles = bundlesOf(points, dimensions)
  const byId = new Map(drawn.map((point) => [point.id, point]))
  const picked = drawn.some((point) => selected.has(point.id))
  const base = frame(theme, [])
  const { legend, height } = legendOf(theme, variants.map(({ title }) => title), 10, size.width)
  const between = (size.width - MARGIN.left - MARGIN.right) / (dimensions.length - 1)
  const place = { ...MARGIN, top: height + TITLES_PX }
  const colorOf = ({ backend, impl, device }: Variant) => theme.colorOf(backend, impl, device)
  const looks = looksOf(variants.map((variant) => ({ name: variant.id, color: colorOf(variant) })))
  const lines = new Map(variants.map(({ id }) => [id, drawn.filter((point) => of(point.case) === id)]))
  const marks = marksOf(dimensions, bundles, size.height - place.top - place.bottom)
  const opacity = picked ? 0.1 : Math.min(0.7, Math.max(0.12, 40 / Math.sqrt(drawn.length * 10)))
  return {
    ...base,
    // Drag brushes: there is no zoom to arm.
    toolbox: { show: false },
    legend: { ...legend, itemHeight: 10, data: variants.map(({ id, title }) => ({ name: title, icon: looks.get(id)!.symbol })), selectedMode: false as const },
    // The marks lie on a plot of their own over the axes.
    grid: place,
    xAxis: { show: false, type: 'value' as const, min: 0, max: dimensions.length - 1 },
    yAxis: { show: false, type: 'value' as const, min: 0, max: 1, inverse: true },
    parallel: { ...place, layout: 'horizontal' as const, parallelAxisDefault: { nameLocation: 'start' as const, nameGap: 12 } },
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
    // Those with the fewest lines last, so that the many do not hide them.
    series: [...variants].sort((a, b) => lines.get(b.id)!.length - lines.get(a.id)!.length).flatMap((variant) => {
      const { id, title } = variant
      const color = colorOf(variant)
      const { dash, symbol } = looks.get(id)!
      return [
        {
          type: 'parallel' as const,
          id,
          name: title,
          color,
          itemStyle: { color },
          lineStyle: { color, width: 1.25, opacity, type: dash },
          inactiveOpacity: 0.03,
          activeOpacity: picked ? 0.1 : Math.max(opacity, 0.5),
          emphasis: { lineStyle: { width: 2.5, opacity: 1 } },
          progressive: 0,
          data: lines.get(id)!.map((point) => ({ value: [...dimensions.map((dimension) => crossingOf(dimension, point, id, bundles)), point.id], ...(selected.has(point.id) ? { lineStyle: { color, width: 2, opacity: 0.95, type: dash } } : {}) })),
        },
        {
          type: 'scatter' as const,
          id: `${id}|marks`,
          name: title,
          silent: true,
          tooltip: { show: false },
          z: 4,
          symbol,
          symbolSize: MARK_PX,
          itemStyle: { color, opacity: 1, borderColor: theme.surface, borderWidth: 1 },
          data: marks.filter((mark) => mark.id === id).map(({ axis, y }) => [axis, y]),
        },
      ]
    }),
  }
}

/** Where the marks of a variant lie: the index of the axis, and the share of its length from the top. */
interface Mark {
  id: string
  axis: number
  y: number
}

/** A mark for each variant in each bundle whose parts have room for one. `length` of the axes in px. */
export function marksOf(dimensions: readonly Dimension[], bundles: Bundles, length: number): Mark[] {
  return dimensions.flatMap((dimension, axis) =>
    [...(bundles.get(dimension) ?? [])].flatMap(([at, ids]) => {
      const centres = ids.map((_, i) => dimension.shareOf(partOf(dimension, at, i, ids.length)))
      const apart = ids.length > 1 ? Math.abs(centres[1]! - centres[0]!) : 1
      return apart * length < MARK_ROOM_PX ? [] : centres.map((y, i) => ({ id: ids[i]!, axis, y }))
    }),
  )
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
  /** Room for a bundle around a value, in places of words or octaves; absent where values are not few enough for bundles. */
  roomAt?(at: number): number
  /** Share of the axis above a value. */
  shareOf(at: number): number
}

const TITLES: Readonly<Partial<Record<Facet, string>>> = { op: 'Operation', dtype: 'Dtype', backend: 'Backend', impl: 'Implementation', device: 'Device', mode: 'Mode' }

/** More words than this on one axis are unreadable; the rest share the last place. */
const MAX_WORDS = 40

function words(facet: Facet, points: readonly ChartPoint[]): Dimension | undefined {
  const values = [...new Set(points.map((point) => describe(point.case).facets[facet]))]
  if (values.length < 2) return undefined
  const shown = values.length > MAX_WORDS ? [...values.slice(0, MAX_WORDS - 1), `${values.length - MAX_WORDS + 1} others`] : values
  const places = new Map(values.map((value, i) => [value, Math.min(i, shown.length - 1)]))
  return { id: facet, title: TITLES[facet] ?? facet, words: shown, format: (value) => shown[Math.round(value)] ?? '', at: (point) => places.get(describe(point.case).facets[facet])!, roomAt: () => 1, shareOf: (value) => (value + 0.5) / shown.length }
}

/** More octaves than this around a value are not needed for its bundle. */
const MAX_ROOM = 2
/** More values than this on an axis of numbers leave no room for bundles. */
const MAX_BUNDLES = 16

/** An axis of numbers. `few`: of few different values, around which lines are bundled. */
function numbers(id: string, title: string, base: number, format: (value: number) => string, at: (point: ChartPoint) => number, points: readonly ChartPoint[], few = false): Dimension | undefined {
  const values = [...new Set(points.map(at).filter(Number.isFinite))].sort((a, b) => a - b)
  const found = logBounds(values, base)
  if (!found || values.length < 2) return undefined
  const shared = { id, title, ticks: logTicks(found, base), format, at }
  const axis = (bounds: { min: number; max: number }) => ({ bounds, shareOf: (value: number) => Math.log(bounds.max / value) / Math.log(bounds.max / bounds.min) })
  if (!few || values.length > MAX_BUNDLES) return { ...shared, ...axis(found) }
  const rooms = new Map(values.map((value, i) => [value, Math.min(MAX_ROOM, Math.log2(value / (values[i - 1] ?? 0)), Math.log2((values[i + 1] ?? Infinity) / value))]))
  const roomAt = (value: number) => rooms.get(value) ?? 0
  // A bundle at the end of the axis is on it as a whole.
  const [first, last] = [values[0]!, values.at(-1)!]
  return { ...shared, ...axis({ min: Math.min(found.min, first / 2 ** (BUNDLE * roomAt(first))), max: Math.max(found.max, last * 2 ** (BUNDLE * roomAt(last))) }), roomAt }
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
      numbers('size', 'Size', 2, (value) => formatSizeTick(value), (point) => sizeOf(point.case) ?? NaN, points, true),
      numbers('threads', 'Threads', 2, formatSize, (point) => point.case.threads ?? NaN, points, true),
      numbers('median', 'Median', 10, (value) => formatTime(value), (point) => point.medianNs, points),
    ].flatMap((dimension) => dimension ?? []),
  ]
}

/** Half the width of the widest bundle of lines at a value, as a share of the room for it. */
const BUNDLE = 0.3

/** A place from -1 to 1 for a line, the same each time: lines of one value lie beside each other and not on top. */
export function jitter(id: string): number {
  let hash = 7
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) >>> 0
  return ((hash % 1000) / 999 - 0.5) * 2
}

/** The implementations whose lines pass a value, by axis and value, in the order of the legend. */
export type Bundles = ReadonlyMap<Dimension, ReadonlyMap<number, readonly string[]>>

export const bundlesOf = (points: readonly ChartPoint[], dimensions: readonly Dimension[]): Bundles => {
  const { variants, of } = variantsOf(points)
  return new Map(dimensions.filter(({ roomAt }) => roomAt).map((dimension) => {
    const passing = new Map<number, Set<string>>()
    for (const point of points) {
      const at = dimension.at(point)
      if (!Number.isNaN(at)) passing.set(at, (passing.get(at) ?? new Set()).add(of(point.case)))
    }
    return [dimension, new Map([...passing].map(([at, ids]) => [at, variants.flatMap(({ id }) => (ids.has(id) ? [id] : []))]))]
  }))
}

/** A place in the part that one of `count` implementations has of the bundle at a value; `offset` within the part from -1 to 1. */
function partOf(dimension: Dimension, at: number, index: number, count: number, offset = 0): number {
  // A bundle of few is narrower, around its value.
  const half = BUNDLE * Math.min(1, 0.4 + 0.15 * count) * (dimension.roomAt?.(at) ?? 0)
  const shift = half * ((2 * index + 1) / count - 1 + offset / count)
  // Upright numbers grow to the top.
  return dimension.words ? at + shift : at / 2 ** shift
}

/** Where the line of a point crosses an axis; `id` of its variant. Within the bundle of a value, each variant that passes it has a part of its own: no colour lies over the others. */
export const crossingOf = (dimension: Dimension, point: ChartPoint, id: string, bundles: Bundles): number => {
  const at = dimension.at(point)
  const passing = bundles.get(dimension)?.get(at)
  return passing ? partOf(dimension, at, passing.indexOf(id), passing.length, jitter(point.id + dimension.id)) : at
}
