import type { BenchmarkCase } from '../../case'
import { drain } from '../../compare'
import type { Verdict } from '../../compare/types'
import { seriesKey } from '../../backends'
import type { Grade } from '../../result'
import { environmentWarnings, processorOf } from '../../session/environment'
import type { Environment } from '../../session/types'
import { meanRatio, type RatioWithInterval } from '../../stats/mean-ratio'
import { SharedWork } from '../opening'
import { CaseTimings, fastestFirst, speedupOf, verdictBetween, verdictOfSpeedup, type Timing } from '../timing'

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

const implementationOf = ({ case: { backend, impl } }: AnswerPoint): Implementation => ({ backend, impl })

/** Work in short steps. */
type Part<T> = Generator<void, T, void>
/** Results, or works, of a step: about a millisecond. */
const STEP = 1000

/** One work by implementation: of the devices and thread counts of an implementation the fastest. */
type Work = ReadonlyMap<string, AnswerPoint>

function workOfTimings(timings: readonly AnswerPoint[]): Work {
  const own = new Map<string, AnswerPoint>()
  for (const point of timings) {
    const key = seriesKey(point.case)
    const known = own.get(key)
    if (!known || fastestFirst([known, point])[0] === point) own.set(key, point)
  }
  return own
}

/** The works that several implementations did. */
function* sharedWorks(timings: CaseTimings<AnswerPoint>): Part<Work[]> {
  const works: Work[] = []
  let looked = 0
  for (const own of timings.byWork()) {
    const work = workOfTimings(own)
    if (work.size > 1) works.push(work)
    if (++looked % STEP === 0) yield
  }
  return works
}

function* baselineOf(works: readonly Work[], wanted: string | undefined): Part<Implementation | undefined> {
  const shared = new SharedWork()
  for (const [i, work] of works.entries()) {
    const chosen = wanted === undefined ? undefined : work.get(wanted)
    if (chosen) return implementationOf(chosen)
    for (const point of work.values()) shared.add(point.case)
    if (i % STEP === STEP - 1) yield
  }
  return shared.mostCompared()
}

/** Speedups over the baseline by implementation, work by work. */
class Speedups {
  readonly #found = new Map<string, { implementation: Implementation; ratios: RatioWithInterval[]; counts: Record<Verdict, number>; threadsDiffer?: boolean }>()

  add(key: string, point: AnswerPoint, base: AnswerPoint, speedup: RatioWithInterval, verdict: Verdict): void {
    let known = this.#found.get(key)
    if (!known) this.#found.set(key, (known = { implementation: implementationOf(point), ratios: [], counts: { faster: 0, slower: 0, same: 0, ambiguous: 0 } }))
    known.ratios.push(speedup)
    known.counts[verdict]++
    if (point.case.threads !== undefined && base.case.threads !== undefined && point.case.threads !== base.case.threads) known.threadsDiffer = true
  }

  /** The mean of each implementation, the fastest first. */
  means(): MeanAnswer[] {
    return [...this.#found.values()].map(({ ratios, ...mean }) => ({ ...mean, cases: ratios.length, ...meanRatio(ratios)! })).sort((a, b) => b.ratio - a.ratio)
  }
}

/** What the works of one operation come to. */
class OperationTally {
  readonly speedups = new Speedups()
  readonly #wins = new Map<string, { implementation: Implementation; count: number }>()
  #cases = 0
  #same = 0
  #unclear = 0

  add(work: Work): void {
    this.#cases++
    const [first, ...others] = fastestFirst([...work.values()])
    const key = seriesKey(first!.case)
    const known = this.#wins.get(key)
    if (known) known.count++
    else this.#wins.set(key, { implementation: implementationOf(first!), count: 1 })
    const verdicts = others.map((other) => verdictBetween(first!, other))
    if (verdicts.includes('ambiguous')) this.#unclear++
    else if (verdicts.includes('same')) this.#same++
  }

  answer(op: string, means: readonly MeanAnswer[], baseline: string): OperationAnswer {
    const meanOf = (key: string) => means.find(({ implementation }) => seriesKey(implementation) === key)
    const gain = (key: string) => meanOf(key)?.ratio ?? (key === baseline ? 1 : 0)
    const [[key, best]] = [...this.#wins].sort(([a, { count: x }], [b, { count: y }]) => y - x || gain(b) - gain(a)) as [[string, { implementation: Implementation; count: number }]]
    const mean = meanOf(key)
    return { op, fastest: best.implementation, wins: best.count, cases: this.#cases, same: this.#same, unclear: this.#unclear, ...(mean ? { overBaseline: { ratio: mean.ratio, low: mean.low, high: mean.high } } : {}) }
  }
}

function* processorAnswer(processor: 'cpu' | 'gpu', timings: CaseTimings<AnswerPoint>, wanted: string | undefined): Part<ProcessorAnswer | undefined> {
  const works = yield* sharedWorks(timings)
  const baseline = yield* baselineOf(works, wanted)
  if (!baseline) return undefined
  const key = seriesKey(baseline)
  const all = new Speedups()
  const byOp = new Map<string, OperationTally>()
  for (const [i, work] of works.entries()) {
    const { op } = [...work.values()][0]!.case
    let tally = byOp.get(op)
    if (!tally) byOp.set(op, (tally = new OperationTally()))
    tally.add(work)
    const base = work.get(key)
    for (const [other, point] of work) {
      const speedup = base && other !== key ? speedupOf(point, base) : undefined
      if (speedup) for (const speedups of [tally.speedups, all]) speedups.add(other, point, base!, speedup, verdictOfSpeedup(speedup))
    }
    if (i % STEP === STEP - 1) yield
  }
  const ops = [...byOp].sort(([a], [b]) => a.localeCompare(b, 'en'))
  const meansByOperation = ops.map(([op, tally]) => ({ op, means: tally.speedups.means() }))
  const operations = ops.map(([op, tally], i) => tally.answer(op, meansByOperation[i]!.means, key))
  const fastestIn = new Map<string, ProcessorAnswer['fastest']>()
  for (const { fastest, wins } of operations) {
    const known = fastestIn.get(seriesKey(fastest)) ?? { implementation: fastest, operations: 0, wins: 0 }
    fastestIn.set(seriesKey(fastest), { ...known, operations: known.operations + 1, wins: known.wins + wins })
  }
  const [fastest] = [...fastestIn.values()].sort((a, b) => b.operations - a.operations || b.wins - a.wins)
  return {
    processor, baseline, operations, means: all.means(), meansByOperation, fastest: fastest!,
    cases: works.length, same: operations.reduce((sum, one) => sum + one.same, 0), unclear: operations.reduce((sum, one) => sum + one.unclear, 0),
  }
}

/** Shares of the times below which a host is not called noisy: graded B or C, where they were measured in rounds, and C. */
const NOISY_BELOW_A = 0.6
const NOISY_C = 0.2
const MIN_TIMES = 4

/** Graded times on the processor: how many, how many below A and graded C, and of which implementations. */
interface HostTimes {
  times: number
  below: number
  unreliable: number
  keys: Set<string>
}

const noTimes = (): HostTimes => ({ times: 0, below: 0, unreliable: 0, keys: new Set() })

/** What the results say of the machine, whoever was fastest. */
class MachineTally {
  readonly implementations = new Map<string, Implementation>()
  readonly grades: Record<Grade, number> = { A: 0, B: 0, C: 0 }
  readonly #used = new Set<string>()
  readonly #inRounds = noTimes()
  readonly #all = noTimes()

  add(point: AnswerPoint): void {
    const { case: c, grade, rounds } = point
    const key = seriesKey(c)
    if (!this.implementations.has(key)) this.implementations.set(key, implementationOf(point))
    this.#used.add(`${c.backend}/${c.device}`)
    if (grade === 'A' || grade === 'B' || grade === 'C') this.grades[grade]++
    if (grade === undefined || processorOf(c.device) !== 'cpu') return
    for (const one of rounds ? [this.#inRounds, this.#all] : [this.#all]) {
      one.times++
      if (grade !== 'A') one.below++
      if (grade === 'C') one.unreliable++
      one.keys.add(key)
    }
  }

  /** Of the times from rounds where there are such; else of all on the processor where several implementations were measured there. */
  #noisyHost(): MachineAnswer['noisyHost'] {
    const rounds = this.#inRounds.times > 0
    const { times, below, unreliable, keys } = rounds ? this.#inRounds : this.#all
    const isNoisy = unreliable >= NOISY_C * times || (rounds && below >= NOISY_BELOW_A * times)
    return times >= MIN_TIMES && isNoisy && (rounds || keys.size > 1) ? { times, below, unreliable, rounds } : undefined
  }

  answer(environment: Environment | undefined): MachineAnswer {
    const floors = (environment?.noiseFloors ?? []).filter(({ backend, device }) => this.#used.has(`${backend}/${device}`)).map(({ ratioP95 }) => ratioP95)
    const noisyHost = this.#noisyHost()
    return { ...(floors.length ? { noiseFloor: Math.max(...floors) } : {}), grades: this.grades, warnings: environment ? environmentWarnings(environment) : [], ...(noisyHost ? { noisyHost } : {}) }
  }
}

/** `sessionAnswer` in steps of a few milliseconds, for a window that shows other things meanwhile. */
export function* sessionAnswerSteps(points: readonly AnswerPoint[], environment: Environment | undefined, baseline?: string): Part<SessionAnswer> {
  const machine = new MachineTally()
  const timings = { gpu: new CaseTimings<AnswerPoint>(), cpu: new CaseTimings<AnswerPoint>() }
  for (const [i, point] of points.entries()) {
    machine.add(point)
    if (point.medianNs > 0) timings[processorOf(point.case.device)].add(point)
    if (i % STEP === STEP - 1) yield
  }
  const processors: ProcessorAnswer[] = []
  for (const processor of ['gpu', 'cpu'] as const) {
    const answer = yield* processorAnswer(processor, timings[processor], baseline)
    if (answer) processors.push(answer)
  }
  return { processors, implementations: [...machine.implementations.values()], machine: machine.answer(environment) }
}

/**
 * What a session says: for each kind of processor the fastest implementation per operation, speedups over the baseline, and what is
 * unclear; and how noisy the machine was. `points`: valid results in the order measured. `baseline`: the series key chosen by the
 * user; absent, or not measured with another: PyTorch eager, else the implementation that shares the most cases with others.
 * Of a case with several results those count that count in comparisons. Ratios of interleaved rounds are those of comparisons too; intervals of
 * other ratios come from those of the medians, and no interval is corrected for the number of cases: core/compare resamples and corrects.
 */
export const sessionAnswer = (points: readonly AnswerPoint[], environment: Environment | undefined, baseline?: string): SessionAnswer => drain(sessionAnswerSteps(points, environment, baseline))
