import { batchScaling, threadScaling, type ScalePoint, type ScaledTiming } from '@core/analysis/timing'
import { SCALING_AXES, scalingAxis, type ScalingAxis } from '@core/analysis/opening'
import { sizeOf } from '@core/analysis/size'
import { caseId, type BenchmarkCase } from '@core/case'
import { findOp } from '@core/ops/registry'
import { remembered, type ChartPoint } from '../data/points'
import { describe, varyingFacets, type Facet } from '../data/series'
import { shapeText } from '@core/case-words'

/** What grows along the axis. */
export type Along = ScalingAxis

export interface ScaleSeries {
  key: string
  label: string
  backend: string
  impl: string
  device: string
  points: ScalePoint<ScaledTiming & { point: ChartPoint }>[]
}

export interface ScaleSearch {
  series: ScaleSeries[]
  /** Series beyond the limit. */
  omitted: number
}

/** The parameter that counts rows, or whatever the op's form grows by; undefined for vectors and ops not known. */
function rowParam(c: BenchmarkCase): string | undefined {
  const op = findOp(c.op)
  return op?.size.batchExtent
}

interface Place {
  at: number
  /** What stays the same, as an identity and in words. */
  key: string
  fixed: string
}

const known: Readonly<Record<Along, WeakMap<BenchmarkCase, Place | 'none'>>> = { threads: new WeakMap(), rows: new WeakMap(), size: new WeakMap() }

/** Where a case stands along the axis. */
function placeOf(c: BenchmarkCase, along: Along): Place | undefined {
  let place = known[along].get(c)
  if (place === undefined) known[along].set(c, (place = findPlace(c, along) ?? 'none'))
  return place === 'none' ? undefined : place
}

function findPlace(c: BenchmarkCase, along: Along): Place | undefined {
  if (along === 'threads') {
    const { threads, ...rest } = c
    return threads === undefined ? undefined : { at: threads, key: caseId(rest), fixed: shapeText(c) }
  }
  if (along === 'size') {
    const at = sizeOf(c)
    return at === undefined ? undefined : { at, key: describe(c).series, fixed: '' }
  }
  const name = rowParam(c)
  const at = name === undefined ? undefined : c.params[name]
  if (name === undefined || typeof at !== 'number') return undefined
  const fixed = Object.entries(c.params).filter(([key, value]) => key !== name && typeof value === 'number').map(([key, value]) => `${key} ${String(value)}`)
  return { at, key: caseId({ ...c, params: { ...c.params, [name]: 1 } }), fixed: fixed.join(' ') }
}

/** What to look along where nothing was chosen (core/analysis/opening.ts). */
export const alongOf = (points: readonly ChartPoint[], picked: string | undefined): Along => SCALING_AXES.find((axis) => axis === picked) ?? remembered(points, 'scaling axis', () => scalingAxis((axis) => longest(points, axis)))

/** Places of the series with the most of them. */
const longest = (points: readonly ChartPoint[], along: Along): number => Math.max(0, ...[...placesOf(points, along).values()].map((places) => places.size))

/** Points of cases that were measured at two or more places along the axis. */
export const scalable = (points: readonly ChartPoint[], along: Along): ChartPoint[] => remembered(points, `scalable ${along}`, () => findScalable(points, along))

function placesOf(points: readonly ChartPoint[], along: Along): Map<string, Set<number>> {
  const places = new Map<string, Set<number>>()
  for (const point of points) {
    const place = placeOf(point.case, along)
    if (place) places.set(place.key, (places.get(place.key) ?? new Set<number>()).add(place.at))
  }
  return places
}

function findScalable(points: readonly ChartPoint[], along: Along): ChartPoint[] {
  const places = placesOf(points, along)
  return points.filter((point) => {
    const place = placeOf(point.case, along)
    return place !== undefined && places.get(place.key)!.size > 1
  })
}

/** A series for each case that was measured at two or more places along the axis; the longest first, then the largest work; at most `limit`. */
export const scaleSeries = (points: readonly ChartPoint[], along: Along, limit: number): ScaleSearch => remembered(points, `scaling ${along} ${limit}`, () => findSeries(points, along, limit))

function findSeries(points: readonly ChartPoint[], along: Along, limit: number): ScaleSearch {
  const groups = new Map<string, { sample: ChartPoint; fixed: string; at: Map<number, ChartPoint> }>()
  for (const point of points) {
    const place = placeOf(point.case, along)
    if (!place) continue
    const group = groups.get(place.key) ?? { sample: point, fixed: place.fixed, at: new Map<number, ChartPoint>() }
    groups.set(place.key, group)
    group.at.set(place.at, point)
  }
  const all = [...groups].filter(([, group]) => group.at.size > 1).sort(([, a], [, b]) => b.at.size - a.at.size || (sizeOf(b.sample.case) ?? 0) - (sizeOf(a.sample.case) ?? 0))
  const shown = all.slice(0, limit)
  const facets = shown.map(([, group]) => describe(group.sample.case).facets)
  const naming: readonly Facet[] = varyingFacets(facets).filter((facet) => along !== 'threads' || facet !== 'threads')
  const fixed = [...new Set(shown.map(([, group]) => group.fixed))]
  const scale = along === 'threads' ? threadScaling : batchScaling
  return {
    series: shown.map(([key, group], i) => ({
      key,
      label: [...naming.map((facet) => facets[i]![facet]), fixed.length > 1 || !naming.length ? group.fixed : ''].filter(Boolean).join(' · '),
      backend: group.sample.case.backend,
      impl: group.sample.case.impl,
      device: group.sample.case.device,
      points: scale([...group.at].map(([at, point]) => ({ at, point, medianNs: point.medianNs, ...(point.ciLowNs === undefined || point.ciHighNs === undefined ? {} : { ciLowNs: point.ciLowNs, ciHighNs: point.ciHighNs }) }))),
    })),
    omitted: all.length - shown.length,
  }
}
