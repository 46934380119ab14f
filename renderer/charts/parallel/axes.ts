import { sizeOf } from '@core/analysis/size'
import { formatSize, formatSizeTick, formatTime } from '@core/units'
import { remembered } from '../data/points'
import { describe, type Facet } from '../data/series'
import type { ChartPoint } from '../types'
import { logBounds, logTicks } from '../axes'

/** One upright axis: words in even places, or numbers on a logarithmic scale. */
export interface Dimension {
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
const MOST_WORDS = 40

function words(facet: Facet, points: readonly ChartPoint[]): Dimension | undefined {
  const values = [...new Set(points.map((point) => describe(point.case).facets[facet]))]
  if (values.length < 2) return undefined
  const shown = values.length > MOST_WORDS ? [...values.slice(0, MOST_WORDS - 1), `${values.length - MOST_WORDS + 1} others`] : values
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

/** Half the width of the bundle of lines at a word, in places. */
const BUNDLE = 0.16

/** A place within the bundle for a line, the same each time: lines of one word lie beside each other and not on top. */
export function jitter(id: string): number {
  let hash = 7
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) >>> 0
  return ((hash % 1000) / 999 - 0.5) * 2 * BUNDLE
}

/** Where the line of a point crosses an axis. */
export const crossingOf = (dimension: Dimension, point: ChartPoint): number => (dimension.words ? dimension.at(point) + jitter(point.id + dimension.id) : dimension.at(point))
