import { seriesKey } from '../backends'
import type { BenchmarkCase } from '../case'
import { processorOf } from '../session/environment'
import { isEagerTorch } from './ratings/libraries'
import { workOf } from './size'

/** A measured case. Time in ns per call. */
export interface Timed {
  case: BenchmarkCase
  medianNs: number
}

/** What charts open with where the user has not chosen: of several choices the one with the most to see. */

/** Times of each implementation (a series key such as `cuda/kernel`) by work; of repeated cases the last stands. */
function timesByWork(points: readonly Timed[], keyOf: (c: BenchmarkCase) => string = workOf): Map<string, Map<string, Timed>> {
  const works = new Map<string, Map<string, Timed>>()
  for (const point of points) {
    const work = keyOf(point.case)
    const of = works.get(work) ?? new Map<string, Timed>()
    works.set(work, of.set(seriesKey(point.case), point))
  }
  return works
}

/**
 * The implementation that others are compared with: PyTorch eager where another one measured the same work, else the one that
 * shares its work with the most results of others on its own kind of processor; of equal ones the first. Where no two share a kind, across
 * kinds. Undefined where no work was measured by two.
 */
export const comparedWith = (points: readonly Timed[]): { backend: string; impl: string } | undefined =>
  mostCompared(points, (c) => `${processorOf(c.device)} ${workOf(c)}`) ?? mostCompared(points, workOf)

function mostCompared(points: readonly Timed[], keyOf: (c: BenchmarkCase) => string): { backend: string; impl: string } | undefined {
  const partners = new Map<string, { backend: string; impl: string; count: number }>()
  for (const of of timesByWork(points, keyOf).values()) {
    if (of.size < 2) continue
    for (const [key, { case: c }] of of) {
      const known = partners.get(key) ?? { backend: c.backend, impl: c.impl, count: 0 }
      known.count += of.size - 1
      partners.set(key, known)
    }
  }
  const all = [...partners.values()]
  const best = all.find(isEagerTorch) ?? all.reduce<(typeof all)[number] | undefined>((most, one) => (most && most.count >= one.count ? most : one), undefined)
  return best && { backend: best.backend, impl: best.impl }
}

/** An implementation with less than this share of the most works that one of them has in common with others is no answer for the whole. */
const COVERAGE = 0.5

/** The fastest implementation over the works that several measured, by the geometric mean of its times over the best; undefined where no work was measured by two. */
export function fastestImplementation(points: readonly Timed[]): { backend: string; impl: string } | undefined {
  const found = new Map<string, { backend: string; impl: string; log: number; count: number }>()
  for (const of of timesByWork(points).values()) {
    if (of.size < 2) continue
    const best = Math.min(...[...of.values()].map(({ medianNs }) => medianNs))
    for (const [key, { case: c, medianNs }] of of) {
      const known = found.get(key) ?? { backend: c.backend, impl: c.impl, log: 0, count: 0 }
      known.log += Math.log(medianNs / best)
      known.count += 1
      found.set(key, known)
    }
  }
  const all = [...found.values()]
  const most = Math.max(0, ...all.map(({ count }) => count))
  const best = all.filter(({ count }) => count >= COVERAGE * most).reduce<(typeof all)[number] | undefined>((top, one) => (top && top.log / top.count <= one.log / one.count ? top : one), undefined)
  return best && { backend: best.backend, impl: best.impl }
}

/** What can grow along the axis of a scaling chart, in order of preference. */
export const SCALING_AXES = ['threads', 'rows', 'size'] as const
export type ScalingAxis = (typeof SCALING_AXES)[number]

/** Two points are a ratio; a line says how a time scales from three on. */
const LINE = 3

/** The first axis along which a line has three points or more, else the first with two; `longest` is the most points of one line on each. */
export const scalingAxis = (longest: (axis: ScalingAxis) => number): ScalingAxis =>
  SCALING_AXES.find((axis) => longest(axis) >= LINE) ?? SCALING_AXES.find((axis) => longest(axis) >= 2) ?? 'threads'
