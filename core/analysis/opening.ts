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
function timesByWork(points: readonly Timed[]): Map<string, Map<string, Timed>> {
  const works = new Map<string, Map<string, Timed>>()
  for (const point of points) {
    const work = workOf(point.case)
    const of = works.get(work) ?? new Map<string, Timed>()
    works.set(work, of.set(seriesKey(point.case), point))
  }
  return works
}

type Processor = ReturnType<typeof processorOf>

interface Member {
  backend: string
  impl: string
  /** Results of others on the same kind of processor for works that it measured too. */
  shared: Record<Processor, number>
}

/** Which implementations measured the same work, from results that are added one after the other. */
export class SharedWork {
  readonly #members = new Map<string, Map<string, Member>>()
  readonly #works: Record<Processor, Map<string, Member[]>> = { gpu: new Map(), cpu: new Map() }

  /** Takes in the case of a valid result. */
  add(c: BenchmarkCase): void {
    const processor = processorOf(c.device)
    const member = this.#memberOf(c)
    const work = workOf(c)
    const own = this.#works[processor].get(work)
    if (!own) this.#works[processor].set(work, [member])
    else if (!own.includes(member)) {
      for (const other of own) other.shared[processor]++
      member.shared[processor] += own.length
      own.push(member)
    }
  }

  /**
   * The implementation that others are compared with: PyTorch eager where another one measured the same work, else the one that
   * shares its work with the most results of others on its own kind of processor; of equal ones the first. Where no two share a kind, across
   * kinds. Undefined where no work was measured by two.
   */
  mostCompared(processor?: Processor): { backend: string; impl: string } | undefined {
    const all = [...this.#members.values()].flatMap((ofBackend) => [...ofBackend.values()])
    const shared = ({ shared: { gpu, cpu } }: Member) => (processor === undefined ? gpu + cpu : processor === 'gpu' ? gpu : cpu)
    return best(all, shared) ?? (processor === undefined ? this.#acrossKinds(all) : undefined)
  }

  /** Called where no two share a kind: each work has one implementation on each. */
  #acrossKinds(all: readonly Member[]): { backend: string; impl: string } | undefined {
    const counts = new Map<Member, number>()
    for (const [work, [onGpu]] of this.#works.gpu) {
      const [onCpu] = this.#works.cpu.get(work) ?? []
      if (onCpu && onGpu && onCpu !== onGpu) for (const member of [onCpu, onGpu]) counts.set(member, (counts.get(member) ?? 0) + 1)
    }
    return best(all, (member) => counts.get(member) ?? 0)
  }

  #memberOf({ backend, impl }: BenchmarkCase): Member {
    let ofBackend = this.#members.get(backend)
    if (!ofBackend) this.#members.set(backend, (ofBackend = new Map()))
    let member = ofBackend.get(impl)
    if (!member) ofBackend.set(impl, (member = { backend, impl, shared: { gpu: 0, cpu: 0 } }))
    return member
  }
}

function best(all: readonly Member[], shared: (member: Member) => number): { backend: string; impl: string } | undefined {
  const partners = all.filter((member) => shared(member) > 0)
  const found = partners.find(isEagerTorch) ?? partners.reduce<Member | undefined>((most, one) => (most && shared(most) >= shared(one) ? most : one), undefined)
  return found && { backend: found.backend, impl: found.impl }
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
