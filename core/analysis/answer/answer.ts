import type { BenchmarkCase } from '../../case'
import type { Verdict } from '../../compare/types'
import { seriesKey } from '../../backends'
import type { Grade } from '../../result'
import { environmentWarnings, processorOf } from '../../session/environment'
import type { Environment } from '../../session/types'
import { meanRatio, type RatioWithInterval } from '../../stats/mean-ratio'
import { comparedWith } from '../opening'
import { workOf } from '../size'
import { fastestFirst, overCases, speedupOf, verdictBetween, type Timing } from '../timing'

/** A valid result as the answer needs it. Times in ns per call. */
export interface AnswerPoint extends Timing {
  case: BenchmarkCase
  grade?: Grade | string | undefined
  run?: number | undefined
}

/** An implementation of a backend. */
export interface Implementation {
  backend: string
  impl: string
}

/** Which implementation is fastest in one operation. A case is one computation (operation, sizes, dtype, mode), whoever did it. */
export interface OperationAnswer {
  op: string
  /** Fastest in the most cases; of equal ones the one with the larger speedup. */
  fastest: Implementation
  /** Cases in which it is the fastest (by paired rounds, else by medians), of all that several implementations measured. */
  wins: number
  cases: number
  /** Cases in which the two fastest differ by less than the threshold, and in which their intervals do not tell. */
  same: number
  unclear: number
  /** Geometric mean of its speedups over the baseline; absent where it is the baseline, or shares no case with it. */
  overBaseline?: RatioWithInterval
}

/** How one implementation compares with the baseline over all of their common cases. */
export interface MeanAnswer extends RatioWithInterval {
  implementation: Implementation
  cases: number
  counts: Record<Verdict, number>
  /** In some of these cases it and the baseline were measured with different numbers of threads. */
  threadsDiffer?: boolean
}

/** The answer for the implementations on one kind of processor, which compete with each other. */
export interface ProcessorAnswer {
  processor: 'cpu' | 'gpu'
  baseline: Implementation
  /** In order of the operations' names. */
  operations: OperationAnswer[]
  /** Each implementation but the baseline, the fastest first; one by operation each. */
  means: MeanAnswer[]
  /** The same by operation. */
  meansByOperation: { op: string; means: MeanAnswer[] }[]
  /** The implementation that is fastest in the most operations, and in how many. */
  fastest: { implementation: Implementation; operations: number; wins: number }
  cases: number
  same: number
  unclear: number
}

/** How far the machine allows to tell differences apart. */
export interface MachineAnswer {
  /** Largest noise floor of the session's devices, as a fraction. */
  noiseFloor?: number
  grades: Record<Grade, number>
  /** Warnings about the machine, one sentence each. */
  warnings: string[]
  /**
   * Present where times on the processor of this host are too noisy to be compared: times measured, those graded below A, and those graded C. `rounds`:
   * whether they come from interleaved rounds, so that speedups hold all the same.
   */
  noisyHost?: { times: number; below: number; unreliable: number; rounds: boolean }
}

/** What a session says: see `answerSentences` for words. */
export interface SessionAnswer {
  /** Kinds of processor on which two implementations or more measured the same case. */
  processors: ProcessorAnswer[]
  /** Every implementation with a valid result. */
  implementations: Implementation[]
  machine: MachineAnswer
}

type Timed = AnswerPoint & { key: string }

/** The results of each work by implementation: of the devices and thread counts of an implementation the fastest. */
function byWork(points: readonly AnswerPoint[]): Map<string, Timed>[] {
  const works = new Map<string, Map<string, Timed>>()
  for (const one of overCases(points.filter(({ medianNs }) => medianNs > 0))) {
    const point = { ...one, key: seriesKey(one.case) }
    const work = workOf(point.case)
    const own = works.get(work) ?? new Map<string, Timed>()
    works.set(work, own)
    const known = own.get(point.key)
    if (!known || fastestFirst([known, point])[0] === point) own.set(point.key, point)
  }
  return [...works.values()]
}

const implementationOf = ({ case: { backend, impl } }: AnswerPoint): Implementation => ({ backend, impl })

/** The mean of each implementation over the baseline, the fastest first. */
function meansOf(works: readonly Map<string, Timed>[], baseline: string): MeanAnswer[] {
  const found = new Map<string, { implementation: Implementation; ratios: RatioWithInterval[]; counts: Record<Verdict, number>; threadsDiffer?: boolean }>()
  for (const own of works) {
    const base = own.get(baseline)
    if (!base) continue
    for (const [key, point] of own) {
      const speedup = key === baseline ? undefined : speedupOf(point, base)
      if (!speedup) continue
      const known = found.get(key) ?? { implementation: implementationOf(point), ratios: [], counts: { faster: 0, slower: 0, same: 0, ambiguous: 0 } }
      known.ratios.push(speedup)
      known.counts[verdictBetween(point, base)]++
      if (point.case.threads !== undefined && base.case.threads !== undefined && point.case.threads !== base.case.threads) known.threadsDiffer = true
      found.set(key, known)
    }
  }
  return [...found.values()].map(({ ratios, ...mean }) => ({ ...mean, cases: ratios.length, ...meanRatio(ratios)! })).sort((a, b) => b.ratio - a.ratio)
}

function operationAnswer(op: string, works: readonly Map<string, Timed>[], baseline: string): OperationAnswer {
  const wins = new Map<string, { implementation: Implementation; count: number }>()
  let same = 0
  let unclear = 0
  for (const own of works) {
    const [first, ...others] = fastestFirst([...own.values()])
    const known = wins.get(first!.key) ?? { implementation: implementationOf(first!), count: 0 }
    wins.set(first!.key, { ...known, count: known.count + 1 })
    const verdicts = others.map((other) => verdictBetween(first!, other))
    if (verdicts.includes('ambiguous')) unclear++
    else if (verdicts.includes('same')) same++
  }
  const means = new Map(meansOf(works, baseline).map((mean) => [seriesKey(mean.implementation), mean]))
  const gain = (key: string) => means.get(key)?.ratio ?? (key === baseline ? 1 : 0)
  const [[key, best]] = [...wins].sort(([a, { count: x }], [b, { count: y }]) => y - x || gain(b) - gain(a)) as [[string, { implementation: Implementation; count: number }]]
  const mean = means.get(key)
  return { op, fastest: best.implementation, wins: best.count, cases: works.length, same, unclear, ...(mean ? { overBaseline: { ratio: mean.ratio, low: mean.low, high: mean.high } } : {}) }
}

function processorAnswer(processor: 'cpu' | 'gpu', points: readonly AnswerPoint[], wanted: string | undefined): ProcessorAnswer | undefined {
  const works = byWork(points).filter((own) => own.size > 1)
  const shared = works.flatMap((own) => [...own.values()])
  const chosen = shared.find((point) => point.key === wanted)
  const baseline = chosen ? implementationOf(chosen) : comparedWith(shared)
  if (!baseline) return undefined
  const key = seriesKey(baseline)
  const byOp = new Map<string, Map<string, Timed>[]>()
  for (const own of works) {
    const { op } = [...own.values()][0]!.case
    byOp.set(op, [...(byOp.get(op) ?? []), own])
  }
  const ops = [...byOp].sort(([a], [b]) => a.localeCompare(b, 'en'))
  const operations = ops.map(([op, own]) => operationAnswer(op, own, key))
  const tally = new Map<string, ProcessorAnswer['fastest']>()
  for (const { fastest, wins } of operations) {
    const known = tally.get(seriesKey(fastest)) ?? { implementation: fastest, operations: 0, wins: 0 }
    tally.set(seriesKey(fastest), { ...known, operations: known.operations + 1, wins: known.wins + wins })
  }
  const [fastest] = [...tally.values()].sort((a, b) => b.operations - a.operations || b.wins - a.wins)
  return {
    processor, baseline, operations, means: meansOf(works, key), meansByOperation: ops.map(([op, own]) => ({ op, means: meansOf(own, key) })), fastest: fastest!,
    cases: works.length, same: operations.reduce((sum, one) => sum + one.same, 0), unclear: operations.reduce((sum, one) => sum + one.unclear, 0),
  }
}

/** Shares of the times below which a host is not called noisy: graded B or C, where they were measured in rounds, and C. */
const NOISY_BELOW_A = 0.6
const NOISY_C = 0.2
const MIN_TIMES = 4

/** Of the times from rounds where there are such; else of all on the processor where several implementations were measured there. */
function noisyHostOf(points: readonly AnswerPoint[]): MachineAnswer['noisyHost'] {
  const own = points.filter(({ case: c, grade }) => processorOf(c.device) === 'cpu' && grade !== undefined)
  const inRounds = own.filter(({ rounds }) => rounds !== undefined)
  const rounds = inRounds.length > 0
  const times = rounds ? inRounds : own
  const below = times.filter(({ grade }) => grade !== 'A').length
  const unreliable = times.filter(({ grade }) => grade === 'C').length
  const isNoisy = unreliable >= NOISY_C * times.length || (rounds && below >= NOISY_BELOW_A * times.length)
  const compared = rounds || new Set(times.map(({ case: c }) => seriesKey(c))).size > 1
  return times.length >= MIN_TIMES && isNoisy && compared ? { times: times.length, below, unreliable, rounds } : undefined
}

/**
 * What a session says: for each kind of processor the fastest implementation per operation, speedups over the baseline, and what is
 * unclear; and how noisy the machine was. `points`: valid results in the order measured. `baseline`: the series key chosen by the
 * user; absent, or not measured with another: PyTorch eager, else the implementation that shares the most cases with others.
 * Of a case with several results those count that count in comparisons. Ratios of interleaved rounds are those of comparisons too; intervals of
 * other ratios come from those of the medians, and no interval is corrected for the number of cases: core/compare resamples and corrects.
 */
export function sessionAnswer(points: readonly AnswerPoint[], environment: Environment | undefined, baseline?: string): SessionAnswer {
  const processors = (['gpu', 'cpu'] as const).flatMap((processor) => processorAnswer(processor, points.filter((point) => processorOf(point.case.device) === processor), baseline) ?? [])
  const grades: Record<Grade, number> = { A: 0, B: 0, C: 0 }
  for (const { grade } of points) if (grade === 'A' || grade === 'B' || grade === 'C') grades[grade]++
  const used = new Set(points.map(({ case: c }) => `${c.backend}/${c.device}`))
  const floors = (environment?.noiseFloors ?? []).filter(({ backend, device }) => used.has(`${backend}/${device}`)).map(({ ratioP95 }) => ratioP95)
  const noisyHost = noisyHostOf(points)
  return {
    processors,
    implementations: [...new Map(points.map((point) => [seriesKey(point.case), implementationOf(point)])).values()],
    machine: { ...(floors.length ? { noiseFloor: Math.max(...floors) } : {}), grades, warnings: environment ? environmentWarnings(environment) : [], ...(noisyHost ? { noisyHost } : {}) },
  }
}
