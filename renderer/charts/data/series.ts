import { DASHES, SYMBOLS, type Dash, type MarkSymbol } from '@core/analysis/looks'
import { sizeOf, sizeTitle, workOf } from '@core/analysis/size'
import type { BenchmarkCase } from '@core/case'
import { operationText } from '@core/case-words'
import { machineOf } from '@core/fleet/machines'
import { remembered, type ChartPoint } from './points'

/** Points that differ in size alone, in order of size, with how they are drawn. */
export interface ChartSeries {
  key: string
  label: string
  /** Operation with its variant: `sum last`. */
  op: string
  backend: string
  impl: string
  facets: Facets
  /** Facets that its label names. */
  naming: readonly Facet[]
  /** Added to its label: the session, where several are laid over each other. */
  suffix?: string
  /** Marks the op; shared by every series of that op. */
  symbol: MarkSymbol
  /** Marks dtype, mode and threads. */
  dash: Dash
  /** 0: the session on show; 1, 2, ...: those laid over it, drawn hollow. */
  layer?: number
  points: { point: ChartPoint; size: number }[]
}

/** What the size axis of these series is called. */
export const axisTitle = (series: readonly ChartSeries[]): string => `Size (${sizeTitle(series.flatMap(({ points }) => points.map(({ point }) => point.case)))})`

/** What tells series apart, each as the words shown for it. */
export interface Facets {
  op: string
  dtype: string
  backend: string
  impl: string
  device: string
  threads: string
  mode: string
  /** The machine of the device, by which charts can be narrowed; the device tells it already. */
  host: string
}
export type Facet = keyof Facets
/** What a series is made of. */
export const FACETS: readonly Facet[] = ['op', 'dtype', 'backend', 'impl', 'device', 'threads', 'mode']

const known = new WeakMap<BenchmarkCase, { facets: Facets; series: string; id: string }>()
/** One text and one set of facets for all cases of a series, so that comparing them is comparing pointers. */
const bySeries = new Map<string, { facets: Facets; series: string }>()

/** A case's facets, its series and its identity; remembered, because live charts ask ten times a second. */
export function describe(c: BenchmarkCase) {
  let found = known.get(c)
  if (!found) {
    const facets = facetsOf(c)
    const series = FACETS.map((facet) => facets[facet]).join('|')
    let shared = bySeries.get(series)
    if (!shared) bySeries.set(series, (shared = { facets, series }))
    known.set(c, (found = { facets: shared.facets, series: shared.series, id: `${workOf(c)}|${c.backend}|${c.impl}|${c.device}|${c.threads}` }))
  }
  return found
}

function facetsOf(c: BenchmarkCase): Facets {
  return {
    op: operationText(c),
    dtype: c.dtype,
    backend: c.backend,
    impl: c.impl,
    device: c.device,
    threads: c.threads === undefined ? '' : c.threads === 1 ? '1 thread' : `${c.threads} threads`,
    mode: c.mode,
    host: machineOf(c),
  }
}

/** Facets that tell these cases apart. Implementation, device and threads count only where one backend has several. */
export function varyingFacets(all: readonly Facets[]): Facet[] {
  const within = (facet: Facet) => {
    const seen = new Map<string, string>()
    return all.some((f) => {
      const before = seen.get(f.backend)
      seen.set(f.backend, f[facet])
      return before !== undefined && before !== f[facet]
    })
  }
  const nested: readonly Facet[] = ['impl', 'device', 'threads']
  return FACETS.filter((facet) => (nested.includes(facet) ? within(facet) : new Set(all.map((f) => f[facet])).size > 1))
}

const labelOf = (facets: Facets, naming: readonly Facet[], suffix?: string) => [...naming.map((facet) => facets[facet]), suffix].filter(Boolean).join(' · ')

/** The series without these facets in their labels and dashes: the title of their plot says them. */
export function renamed(series: readonly ChartSeries[], without: readonly Facet[]): ChartSeries[] {
  const styleOf = ({ facets, naming }: ChartSeries) => STYLED.filter((facet) => naming.includes(facet) && !without.includes(facet)).map((facet) => facets[facet]).join('|')
  const styles = [...new Set(series.map(styleOf))]
  return series.map((one) => {
    const naming = one.naming.filter((facet) => !without.includes(facet))
    return { ...one, label: labelOf(one.facets, naming.length ? naming : ['backend'], one.suffix), dash: DASHES[styles.indexOf(styleOf(one)) % DASHES.length]! }
  })
}

/** Facets that the dash of a line stands for. */
const STYLED: readonly Facet[] = ['dtype', 'mode', 'threads']

/**
 * Groups points into series that differ in size alone, named by just what tells them apart.
 * Of more than `limit` series the first ones in order are drawn; `omitted` counts the rest.
 */
export const groupSeries = (points: readonly ChartPoint[], limit = 24): { series: readonly ChartSeries[]; omitted: number } => remembered(points, `series ${limit}`, () => grouped(points, limit))

function grouped(points: readonly ChartPoint[], limit: number): { series: ChartSeries[]; omitted: number } {
  const groups = new Map<string, { sample: BenchmarkCase; points: Map<string, { point: ChartPoint; size: number }> }>()
  for (const point of points) {
    const size = sizeOf(point.case)
    if (size === undefined || !(point.medianNs > 0)) continue
    const { series: key, id } = describe(point.case)
    let group = groups.get(key)
    if (!group) groups.set(key, (group = { sample: point.case, points: new Map() }))
    // A case measured again in the same session replaces the earlier point.
    const known = group.points.get(id)
    if (known) known.point = point
    else group.points.set(id, { point, size })
  }
  const entries = [...groups].slice(0, limit)
  const samples = entries.map(([, group]) => describe(group.sample).facets)
  const varying = varyingFacets(samples)
  const naming: readonly Facet[] = varying.length ? varying : ['op', 'backend']
  const opsSeen = [...new Set(samples.map((f) => f.op))]
  // What does not tell these series apart does not use up a dash either.
  const styleOf = (f: Facets) => STYLED.filter((facet) => varying.includes(facet)).map((facet) => f[facet]).join('|')
  const stylesSeen = [...new Set(samples.map(styleOf))]
  const series = entries.map(([key, group], i): ChartSeries => {
    const f = samples[i]!
    return {
      key,
      label: labelOf(f, naming),
      op: f.op,
      backend: f.backend,
      impl: f.impl,
      facets: f,
      naming,
      symbol: SYMBOLS[opsSeen.indexOf(f.op) % SYMBOLS.length]!,
      dash: DASHES[stylesSeen.indexOf(styleOf(f)) % DASHES.length]!,
      points: [...group.points.values()].sort((a, b) => a.size - b.size),
    }
  })
  return { series, omitted: groups.size - entries.length }
}
