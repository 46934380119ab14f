import type { Narrowing, ChartUnit, WorthContext } from '../unit'
import { fastestImplementation } from '@core/analysis/opening'
import { describe, varyingFacets, type Facet } from './series'
import type { ChartPoint } from './points'

/** What a chart is narrowed to: one value of a facet, or `null` for all of them by the user's own choice. */
export type Focus = Partial<Record<Facet, string | null>>

export interface FacetChoice {
  facet: Facet
  /** `operations`, for "All operations". */
  plural: string
  /** In the order they appear. */
  values: string[]
}

const PLURALS: Readonly<Record<Facet, string>> = { op: 'operations', dtype: 'dtypes', backend: 'backends', impl: 'implementations', device: 'devices', threads: 'thread counts', mode: 'modes', host: 'hosts' }

/** For charts with a line per series. Backends and implementations stay: they are what is compared. */
export const LINES: Narrowing = { readable: 12, facets: ['op', 'mode', 'dtype', 'threads'] }

/** Facets that tell these points apart, with their values. */
export function facetChoices(points: readonly ChartPoint[]): FacetChoice[] {
  const series = new Map(points.map((point) => [describe(point.case).series, describe(point.case).facets]))
  const all = [...series.values()]
  const hosts = new Set(all.map(({ host }) => host)).size > 1
  return [...varyingFacets(all), ...(hosts ? ['host' as const] : [])].map((facet) => ({ facet, plural: PLURALS[facet], values: [...new Set(all.map((f) => f[facet]))].filter(Boolean) }))
}

const chosenOf = (focus: Focus) => Object.entries(focus).filter((entry): entry is [Facet, string] => typeof entry[1] === 'string')

/** Whether a focus leaves a case. */
export const isWithin = (c: ChartPoint['case'], focus: Focus): boolean => chosenOf(focus).every(([facet, value]) => describe(c).facets[facet] === value)

/** The points that a focus leaves. */
export const within = (points: readonly ChartPoint[], focus: Focus): ChartPoint[] => (chosenOf(focus).length ? points.filter((point) => isWithin(point.case, focus)) : [...points])

/**
 * The user's focus, completed so that a chart can be read where that is possible: for lines first one operation, then
 * one mode, dtype and thread count, those of `anchor` (the selected result) or of the first point. What the user chose
 * is never changed.
 */
export function completeFocus(points: readonly ChartPoint[], chosen: Focus, anchor?: ChartPoint, narrowing: Narrowing = LINES): Focus {
  const focus: Focus = { ...chosen }
  for (const facet of narrowing.facets) {
    const left = within(points, focus)
    const like = anchor && left.includes(anchor) ? anchor : left[0]
    if (!like || new Set(left.map((point) => describe(point.case).series)).size <= narrowing.readable) return focus
    if (!(facet in focus) && facetChoices(left).some((choice) => choice.facet === facet)) focus[facet] = like === anchor ? describe(like.case).facets[facet] : preferredValue(left, facet, narrowing)
  }
  return focus
}

function preferredValue(points: readonly ChartPoint[], facet: Facet, { frequent, fastest }: Narrowing): string {
  const best = fastest?.includes(facet) ? fastestImplementation(points) : undefined
  if (best && (facet === 'backend' || facet === 'impl')) return best[facet]
  return frequent ? mostFrequent(points, facet) : describe(points[0]!.case).facets[facet]
}

/** What a chart is opened with: its own narrowing of the points that have something to show, completing what the user chose. */
export function openingFocus({ narrowing, worth }: Pick<ChartUnit, 'narrowing' | 'worth'>, context: WorthContext, picked: Readonly<Record<string, string>>, chosen: Focus, anchor?: ChartPoint): Focus {
  if (!narrowing) return chosen
  const shown = worth?.(context, picked) ?? context.all
  return completeFocus(shown.length > 0 ? shown : context.all, chosen, anchor, narrowing)
}

function mostFrequent(points: readonly ChartPoint[], facet: Facet): string {
  const counts = new Map<string, number>()
  for (const point of points) counts.set(describe(point.case).facets[facet], (counts.get(describe(point.case).facets[facet]) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}
