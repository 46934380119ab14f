import type { Narrowing, ChartUnit, WorthContext } from '../unit'
import { fastestImplementation } from '@core/analysis/opening'
import { describe, varyingFacets, type Facet, type Facets } from './series'
import { groupsOf, type Group } from './groups'
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
export const facetChoices = (points: readonly ChartPoint[]): FacetChoice[] => choicesOf(groupsOf(points))

function choicesOf(groups: readonly Group[]): FacetChoice[] {
  const all = groups.map(({ facets }) => facets)
  const hosts = new Set(all.map(({ host }) => host)).size > 1
  return [...varyingFacets(all), ...(hosts ? ['host' as const] : [])].map((facet) => ({ facet, plural: PLURALS[facet], values: [...new Set(all.map((f) => f[facet]))].filter(Boolean) }))
}

const chosenOf = (focus: Focus) => Object.entries(focus).filter((entry): entry is [Facet, string] => typeof entry[1] === 'string')

/** Whether a focus leaves what has these facets. */
function leaves(focus: Focus): (facets: Facets) => boolean {
  const chosen = chosenOf(focus)
  return (facets) => chosen.every(([facet, value]) => facets[facet] === value)
}

/** Whether a focus leaves a case. */
export function isWithin(focus: Focus): (c: ChartPoint['case']) => boolean {
  const left = leaves(focus)
  return (c) => left(describe(c).facets)
}

/** The points that a focus leaves. */
export function within(points: readonly ChartPoint[], focus: Focus): readonly ChartPoint[] {
  const groups = groupsOf(points)
  const kept = groups.map(({ facets }) => facets).filter(leaves(focus))
  if (kept.length === groups.length) return points
  const facets = new Set(kept)
  return points.filter((point) => facets.has(describe(point.case).facets))
}

/**
 * The user's focus, completed so that a chart can be read where that is possible: for lines first one operation, then
 * one mode, dtype and thread count, those of `anchor` (the selected result) or of the first point. What the user chose
 * is never changed.
 */
export function completeFocus(points: readonly ChartPoint[], chosen: Focus, anchor?: ChartPoint, narrowing: Narrowing = LINES): Focus {
  const focus: Focus = { ...chosen }
  const like = anchor && points.includes(anchor) ? describe(anchor.case).facets : undefined
  for (const facet of narrowing.facets) {
    const left = groupsOf(points).filter(({ facets }) => leaves(focus)(facets))
    if (left.length === 0 || left.length <= narrowing.readable) return focus
    if (facet in focus || !choicesOf(left).some((choice) => choice.facet === facet)) continue
    focus[facet] = like && leaves(focus)(like) ? like[facet] : preferredValue(left, facet, narrowing, () => within(points, focus))
  }
  return focus
}

function preferredValue(groups: readonly Group[], facet: Facet, { frequent, fastest }: Narrowing, points: () => readonly ChartPoint[]): string {
  const best = fastest?.includes(facet) ? fastestImplementation(points()) : undefined
  if (best && (facet === 'backend' || facet === 'impl')) return best[facet]
  return frequent ? mostFrequent(groups, facet) : groups[0]!.facets[facet]
}

/** What a chart is opened with: its own narrowing of the points that have something to show, completing what the user chose. */
export function openingFocus({ narrowing, worth }: Pick<ChartUnit, 'narrowing' | 'worth'>, context: WorthContext, picked: Readonly<Record<string, string>>, chosen: Focus, anchor?: ChartPoint): Focus {
  if (!narrowing) return chosen
  const shown = worth?.(context, picked) ?? context.all
  return completeFocus(shown.length > 0 ? shown : context.all, chosen, anchor, narrowing)
}

function mostFrequent(groups: readonly Group[], facet: Facet): string {
  const counts = new Map<string, number>()
  for (const { facets, count } of groups) counts.set(facets[facet], (counts.get(facets[facet]) ?? 0) + count)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}
