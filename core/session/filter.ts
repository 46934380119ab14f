import type { SessionSummary } from './types'

/** What a session is: made by a sweep, or else. */
export type SessionKind = 'sweep' | NonNullable<SessionSummary['about']>['kind']

/** Kinds as users read them. */
export const KIND_WORDS: Readonly<Record<SessionKind, string>> = { sweep: 'sweep', ceilings: 'ceilings', interleaved: 'interleaved', 'self-check': 'self-check', merged: 'merged', part: 'part', fleet: 'fleet' }

const kindOf = ({ about }: Pick<SessionSummary, 'about'>): SessionKind => about?.kind ?? 'sweep'

/** Lists a filter chooses from; of each any value will do. */
export const FACETS = ['tags', 'devices', 'ops', 'kinds'] as const
export type FilterFacet = (typeof FACETS)[number]

/** A choice of sessions: everything given must hold. Empty lists and texts choose nothing. */
export interface SessionFilter extends Record<FilterFacet, string[]> {
  /** Each word must occur in name, notes, tags, state, operations or devices, in any case of letters. */
  search: string
  /** First and last day, `2026-03-01`, in local time, both included. */
  from: string
  to: string
}

export const NO_FILTER: SessionFilter = { search: '', tags: [], devices: [], ops: [], kinds: [], from: '', to: '' }

export const isFiltering = (filter: SessionFilter): boolean => filter.search.trim() !== '' || filter.from !== '' || filter.to !== '' || FACETS.some((facet) => filter[facet].length > 0)

/** Values of a session that a facet chooses among. */
const facetValues = (session: SessionSummary, facet: FilterFacet): readonly string[] => (facet === 'kinds' ? [kindOf(session)] : session[facet])

/** `2026-03-01`: the day of an ISO time in local time; undefined for what is no time. */
export function dayOf(iso: string): string | undefined {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return undefined
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The condition of a filter, but for one facet. */
function passes(filter: SessionFilter, without?: FilterFacet): (session: SessionSummary) => boolean {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean)
  const chosen = FACETS.filter((facet) => facet !== without && filter[facet].length > 0).map((facet) => [facet, new Set(filter[facet])] as const)
  return (session) => {
    if (chosen.some(([facet, wanted]) => !facetValues(session, facet).some((value) => wanted.has(value)))) return false
    if (filter.from !== '' || filter.to !== '') {
      const day = dayOf(session.createdAt)
      if (day === undefined || (filter.from !== '' && day < filter.from) || (filter.to !== '' && day > filter.to)) return false
    }
    if (words.length === 0) return true
    const text = [session.name, session.notes, session.state, ...session.tags, ...session.ops, ...session.devices].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/** The sessions a filter chooses, in their order. */
export const filterSessions = (sessions: readonly SessionSummary[], filter: SessionFilter): SessionSummary[] => (isFiltering(filter) ? sessions.filter(passes(filter)) : [...sessions])

/** A value that can be chosen, with the sessions that choosing it alone in its facet would show. */
export interface FacetChoice {
  value: string
  count: number
}

/** What each facet has to choose from: values in use, the most frequent first. Those chosen are kept although nothing passes. */
export function facetChoices(sessions: readonly SessionSummary[], filter: SessionFilter): Record<FilterFacet, FacetChoice[]> {
  const choicesOf = (facet: FilterFacet): FacetChoice[] => {
    const counts = new Map<string, number>(filter[facet].map((value) => [value, 0]))
    const pass = passes(filter, facet)
    for (const session of sessions) {
      const passing = pass(session)
      for (const value of facetValues(session, facet)) counts.set(value, (counts.get(value) ?? 0) + Number(passing))
    }
    return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count || a.value.localeCompare(b.value))
  }
  return { tags: choicesOf('tags'), devices: choicesOf('devices'), ops: choicesOf('ops'), kinds: choicesOf('kinds') }
}

/** A filter as the query of an address, so that going back or a restart brings it again. */
export function filterToQuery(filter: SessionFilter): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  if (filter.search.trim() !== '') query['q'] = filter.search.trim()
  for (const facet of FACETS) if (filter[facet].length > 0) query[facet] = [...filter[facet]]
  if (filter.from !== '') query['from'] = filter.from
  if (filter.to !== '') query['to'] = filter.to
  return query
}

/** The filter of such a query; what does not fit is left out. */
export function filterFromQuery(query: Readonly<Record<string, unknown>>): SessionFilter {
  const list = (value: unknown): string[] => [...new Set([value].flat().filter((each): each is string => typeof each === 'string' && each !== ''))]
  const day = (value: unknown) => (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) ? value : '')
  return { search: list(query['q']).join(' ').slice(0, 200), tags: list(query['tags']), devices: list(query['devices']), ops: list(query['ops']), kinds: list(query['kinds']), from: day(query['from']), to: day(query['to']) }
}
