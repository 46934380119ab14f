import type { Result, SampleLabel } from '../../result'
import { median, quantile } from '../../stats/descriptive'
import { relativeInterval, summarize } from '../../stats/summarize'
import { stillText } from '../sampling/stopping'
import type { MeasureSettings } from '../settings'
import { gradeOf, SLOWED } from './grade'
import { bestProbe, chooseSamples, cleanSamples, labelSamples } from './labels'

/** What was measured of one implementation in one pass, or in some rounds of it. */
export interface RoundPart {
  pass: number
  result: Result & Required<Pick<Result, 'rounds'>>
}

/**
 * Samples of one block of an implementation that is measured in a process of its own, and of the first look at any, and the settings' least time from which their length follows (warm-up.ts): some 50 us each. Short ones, because
 * another program that takes the processor away spoils the sample that it falls in.
 */
const BLOCK_SAMPLES = 48
const MIN_SECONDS = 0.0125
/** Wall time of one block's samples at most. */
const LONGEST_BLOCK_SECONDS = 0.04
/** Warm-up of the first block, and of a later one: the case was warm a moment ago, its caches were not. */
const FIRST_WARMUP_SECONDS = 0.03
const BLOCK_WARMUP_SECONDS = 0.01
/** Work of checking the output of a block after the first, which is checked as settings say. All of it is searched for unwritten elements. */
const BLOCK_VERIFY_WORK = 1e6

/** Passes that have an interval of their ratio, of fewer none could be left out as an outlier; and passes at most. */
export const MIN_PASSES = 6
export const MAX_PASSES = 20
/** Share of the least time of a case that its rounds of one pass take. */
const PASS_SHARE = 0.12

/** Wall time of the rounds of one pass over so many implementations, in seconds. */
export const passSeconds = ({ minSeconds }: Pick<MeasureSettings, 'minSeconds'>, members: number): number => PASS_SHARE * minSeconds * members

/** Whether cases that compete on a processor of the host are measured in rounds by these settings: not by a rule that promises a number of samples, or a time. */
export const takesRounds = ({ rule, rounds }: Pick<MeasureSettings, 'rule' | 'rounds'>): boolean => rounds === true && (rule === undefined || rule.id === 'relative-ci')

/** How one block is measured by these settings. */
export const roundSettings = (settings: MeasureSettings, first: boolean): MeasureSettings => ({
  ...settings,
  rule: { id: 'fixed-count', count: BLOCK_SAMPLES },
  minSeconds: Math.min(MIN_SECONDS, settings.minSeconds),
  maxSeconds: Math.min(LONGEST_BLOCK_SECONDS, settings.maxSeconds),
  maxWarmupSeconds: Math.min(first ? FIRST_WARMUP_SECONDS : BLOCK_WARMUP_SECONDS, settings.maxWarmupSeconds),
  ...(first ? {} : { verifyWork: Math.min(BLOCK_VERIFY_WORK, settings.verifyWork) }),
})

/**
 * The parts of a case (at least one, all `ok`) in the order measured as one result: every sample, and no statistics yet. `group` is that
 * of all implementations measured in these rounds.
 */
export function gatherRounds(given: readonly RoundPart[], group: number): Result & Required<Pick<Result, 'rounds'>> {
  // A process that was started anew may make samples of another length, which have another spread: a result keeps those of one.
  const inner = given.at(-1)!.result.inner
  const parts = given.filter(({ result }) => result.inner === inner)
  const results = parts.map(({ result }) => result)
  const [first] = results as [Result]
  const last = results.at(-1)!
  const begins: number[] = []
  let count = 0
  for (const { samplesNs } of results) {
    begins.push(count)
    count += samplesNs.length
  }
  const numbers = results.flatMap(({ rounds }) => rounds.numbers)
  const firstSamples = results.flatMap(({ rounds }, i) => rounds.firstSamples.map((from) => begins[i]! + from))
  const passes = parts.flatMap(({ pass, result }) => result.rounds.numbers.map(() => pass))
  const firstRounds = passes.flatMap((pass, i) => (pass === passes[i - 1] ? [] : [i]))
  const beside = (name: 'probesNs' | 'clocksMhz') => (results.some((result) => result[name]) ? { [name]: results.flatMap((result) => result[name] ?? result.samplesNs.map(() => 0)) } : {})
  const states = results.flatMap(({ deviceStates = [] }, i) => deviceStates.map(({ firstSample, state }) => ({ firstSample: begins[i]! + firstSample, state })))
  const notes = [...new Set(results.flatMap((result) => result.notes ?? []))].filter((note) => !PER_BLOCK.test(note))
  const { labels: _labels, grade: _grade, gradeReasons: _reasons, message: _message, notes: _notes, summary: _summary, stopReason: _stop, converged: _converged, deviceStates: _states, ...rest } = first
  return {
    ...rest, samplesNs: results.flatMap((result) => result.samplesNs), ...beside('probesNs'), ...beside('clocksMhz'),
    rounds: { group, numbers, firstSamples, firstRounds },
    ...(states.length > 0 ? { deviceStates: states } : {}), ...(notes.length > 0 ? { notes } : {}),
    ...(last.verificationAfter ? { verificationAfter: last.verificationAfter } : {}),
    wallMs: results.reduce((sum, { wallMs }) => sum + wallMs, 0), measuredMs: results.reduce((sum, { measuredMs }) => sum + measuredMs, 0),
  }
}

/**
 * The same with statistics: of the samples that were taken in quiet rounds, where the speed probe beside them stayed within 2 % of its best
 * time and other programs did not take the processor all the time; of all where too few rounds were.
 */
export function joinRounds(given: readonly RoundPart[], group: number, settings: MeasureSettings): Result {
  const joined = gatherRounds(given, group)
  const { samplesNs, rounds, inner = 1, tickNs = 0, deviceStates: states = [] } = joined
  const count = samplesNs.length
  const conditions = { count, states, ...(joined.probesNs ? { probesNs: joined.probesNs } : {}), ...(joined.clocksMhz ? { clocksMhz: joined.clocksMhz } : {}) }
  const labels = [...labelSamples(conditions), ...slowRounds(joined)]
  const choice = chooseSamples(labels, count, rounds)
  const counted = cleanSamples({ samplesNs, labels, rounds })
  const summary = summarize(counted, tickNs / inner)
  if (labels.length > 0) joined.labels = labels
  if (!summary) return joined
  const quiet = quietRounds(choice.used, rounds.firstSamples)
  const relativeCi = relativeInterval(summary.ciLowNs === undefined || summary.ciHighNs === undefined ? undefined : { low: summary.ciLowNs, high: summary.ciHighNs }, summary.medianNs)
  const converged = relativeCi !== undefined && relativeCi <= settings.relativeCi
  const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(2))} %`
  const reached = relativeCi === undefined ? 'too few samples for a CI of the time' : `95 % CI of the time ${converged ? `within ±${percent(settings.relativeCi)}` : stillText(relativeCi)}`
  const stopReason = `${rounds.numbers.length} interleaved rounds, ${reached}`
  const { grade, reasons } = gradeOf({
    summary, samplesNs: counted, taken: count, labels, choice, converged, stopReason, tickNs, inner, settled: true,
    elapsedSeconds: joined.wallMs / 1000, timer: joined.timer ?? 'steady-clock', states: states.filter(({ firstSample }) => choice.used[firstSample] === 1).map(({ state }) => state),
    ...(joined.probesNs ? { probesNs: joined.probesNs } : {}), rounds: { quiet, all: rounds.numbers.length },
  })
  return { ...joined, summary, converged, stopReason, grade, ...(reasons.length > 0 ? { gradeReasons: reasons } : {}) }
}

/** Notes about the samples of one block alone (record.ts, warm-up.ts). */
const PER_BLOCK = /^(CI widened|One call takes) /

/** A round of many samples counts as interrupted where the system took the processor away this often, per sample; one of few samples where it did so at all. */
const INTERRUPTED = 0.5
const FEW_SAMPLES = 8

const isInterrupted = (switches: number, samples: number) => (samples <= FEW_SAMPLES ? switches > 0 : switches > INTERRUPTED * samples)

/** Whether other programs took the processor away from the samples of a result so often. */
export const wasInterrupted = ({ samplesNs, deviceStates }: Pick<Result, 'samplesNs' | 'deviceStates'>): boolean => isInterrupted(interruptions(deviceStates, 0, samplesNs.length), samplesNs.length)

const interruptions = (states: Result['deviceStates'], from: number, end: number) =>
  (states ?? []).reduce((sum, { firstSample, state }) => (firstSample >= from && firstSample < end ? sum + (state.involuntarySwitches ?? 0) : sum), 0)

/** Labels the rounds that were interrupted, and those whose speed probe was usually slower than its best time by more than 2 %. */
function slowRounds({ samplesNs, probesNs, deviceStates = [], rounds, tickNs = 0 }: Result): SampleLabel[] {
  const best = bestProbe(probesNs, deviceStates.map(({ state }) => state))
  const usual = (from: number, end: number) => probesNs && median(probesNs.slice(from, end).filter((ns) => ns > 0))
  const endOf = (i: number) => rounds!.firstSamples[i + 1] ?? samplesNs.length
  const troubles = rounds!.firstSamples.map((from, i) => {
    if (isInterrupted(interruptions(deviceStates, from, endOf(i)), endOf(i) - from)) return 'interrupted'
    const ns = usual(from, endOf(i))
    return best !== undefined && ns !== undefined && ns > best * (1 + SLOWED) + tickNs ? 'slow' : undefined
  })
  // Rounds in a row with the same trouble make one label.
  return troubles.flatMap((trouble, i): SampleLabel[] => {
    if (trouble === undefined || trouble === troubles[i - 1]) return []
    let last = i
    while (troubles[last + 1] === trouble) last++
    const [first, end] = [rounds!.firstSamples[i]!, endOf(last)]
    const reason = trouble === 'interrupted' ? `other programs took the processor ${interruptions(deviceStates, first, end)} times` : `CPU speed probe took ${(usual(first, end)! / best!).toFixed(2)}x its best time`
    return [{ kind: 'host-slowed', reason: `${last > i ? 'in these rounds' : 'in this round'} ${reason}`, first, count: end - first }]
  })
}

/** Rounds of which samples count. */
const quietRounds = (used: Uint8Array, firstSamples: readonly number[]): number => firstSamples.filter((from, i) => used.subarray(from, firstSamples[i + 1] ?? used.length).includes(1)).length

/** Quantile of the samples of a pass, or of a round, that stands for it: what other programs add to samples lies above. */
const TYPICAL = 0.1

/** What one pass says of a case: the typical time of its rounds that were not interrupted; of all where every one was, which `interrupted` says. */
export interface Pass {
  /** Number of its first round, by which the passes of two implementations are paired. */
  first: number
  ns: number
  /** How many it had. */
  rounds: number
  interrupted: boolean
  /** Numbers of the rounds that were not interrupted, and the typical time of each. */
  clean: readonly number[]
  cleanNs: readonly number[]
}

/** The passes of one result, in their order, and the group of all that were measured in the same rounds. */
export interface RoundPasses {
  group: number
  passes: readonly Pass[]
}

/** Samples of a pass: all, those of rounds that were not interrupted, and these by the number of their round. */
interface PassSamples {
  all: number[]
  clean: number[]
  byRound: Map<number, number[]>
}

/** The passes of a result; undefined where it was not measured in interleaved rounds. */
export function roundPasses({ samplesNs, rounds, deviceStates }: Pick<Result, 'rounds' | 'deviceStates'> & { samplesNs: ArrayLike<number> }): RoundPasses | undefined {
  if (!rounds) return undefined
  const { group, numbers, firstSamples, firstRounds } = rounds
  const open = new Map<number, PassSamples>()
  const begins = new Set(firstRounds)
  const states = deviceStates ?? []
  let first = 0
  let state = 0
  for (const [i, from] of firstSamples.entries()) {
    const end = firstSamples[i + 1] ?? samplesNs.length
    // In sessions of before there were passes, the case was opened anew in every round: there and back is one.
    if (!firstRounds) first = 2 * Math.floor(numbers[i]! / 2)
    else if (i === 0 || begins.has(i)) first = numbers[i]!
    const known: PassSamples = open.get(first) ?? { all: [], clean: [], byRound: new Map() }
    open.set(first, known)
    let switches = 0
    // Both are in the order of samples.
    for (; state < states.length && states[state]!.firstSample < end; state++) switches += states[state]!.state.involuntarySwitches ?? 0
    const quiet = !isInterrupted(switches, end - from)
    const round = known.byRound.get(numbers[i]!) ?? []
    known.byRound.set(numbers[i]!, round)
    for (let at = from; at < end; at++) {
      known.all.push(samplesNs[at]!)
      if (!quiet) continue
      known.clean.push(samplesNs[at]!)
      round.push(samplesNs[at]!)
    }
  }
  const passes = [...open].flatMap(([at, { all, clean, byRound }]): Pass[] => {
    const interrupted = clean.length === 0
    const ns = quantile(interrupted ? all : clean, TYPICAL)
    if (ns === undefined || !(ns > 0)) return []
    const typical = [...byRound].flatMap(([round, samples]) => {
      const own = quantile(samples, TYPICAL)
      return own !== undefined && own > 0 ? [{ round, ns: own }] : []
    })
    return [{ first: at, ns, rounds: byRound.size, interrupted, clean: typical.map(({ round }) => round), cleanNs: typical.map(({ ns: own }) => own) }]
  })
  return { group, passes }
}
