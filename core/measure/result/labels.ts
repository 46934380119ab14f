import type { DeviceState } from '../../backend'
import type { Result, SampleLabel } from '../../result'
import { quantileOfSorted } from '../../stats/descriptive'

/** What is known of the conditions under which samples were taken. */
export interface Conditions {
  /** Samples taken. */
  count: number
  /** State of the device during each batch, in order; it holds from `firstSample` to the next entry. */
  states?: readonly { firstSample: number; state: DeviceState }[]
  /** SM clock in MHz beside each sample; 0 where it could not be read. */
  clocksMhz?: ArrayLike<number>
  /** Time of a fixed piece of work beside each sample, in ns; 0 where it was not run. The states may know its best time. */
  probesNs?: ArrayLike<number>
}

/** A sample is clean at this share of the best clock of its case, and a processor at this share of its best speed. */
const MIN_SPEED = 0.75
/** The best of a case is this quantile, so that one freak reading does not condemn all the others. */
const BEST = 0.05
/** The slowest of a stretch of samples is named beside the usual one where it is this many times as slow. */
const NOTABLY_WORSE = 1.5
/** A case has no more labels than this of one kind: conditions that flicker are joined across the clean samples between. */
const MAX_RUNS = 256

/**
 * Labels what was taken while something was wrong: `throttled` and `disturbed` by the state of the batch, `slow-clock`
 * below 75 % of the best clock of the case (per sample where known, else per batch), `host-slowed` where the fixed work
 * beside a sample took more than 1 / 0.75 of its best time (bestProbe). A sample may carry several. In order of kind, then
 * of samples.
 */
export function labelSamples(conditions: Conditions): SampleLabel[] {
  return [...throttled(conditions), ...slowClocks(conditions), ...slowedHost(conditions), ...disturbed(conditions)]
}

interface Batch {
  first: number
  count: number
  state: DeviceState
}

const batchesOf = ({ states = [], count }: Conditions): Batch[] =>
  states.map(({ firstSample, state }, i) => ({ first: firstSample, count: (states[i + 1]?.firstSample ?? count) - firstSample, state })).filter((batch) => batch.count > 0)

const throttled = (conditions: Conditions) => byBatch('throttled', conditions, (state) => (state.throttle?.length ? state.throttle.join(', ') : undefined))

const disturbed = (conditions: Conditions) =>
  byBatch('disturbed', conditions, ({ foreignProcesses: others = 0 }) => (others > 0 ? (others === 1 ? 'another process on the device' : `${others} other processes on the device`) : undefined))

/** Batches in a row with the same reason make one label. */
function byBatch(kind: SampleLabel['kind'], conditions: Conditions, reasonOf: (state: DeviceState) => string | undefined): SampleLabel[] {
  const labels: SampleLabel[] = []
  for (const { first, count, state } of batchesOf(conditions)) {
    const reason = reasonOf(state)?.slice(0, 400)
    if (reason === undefined) continue
    const last = labels.at(-1)
    if (last?.reason === reason && last.first + last.count === first) last.count += count
    else labels.push({ kind, reason, first, count })
  }
  return labels
}

function slowClocks(conditions: Conditions): SampleLabel[] {
  const clocks = conditions.clocksMhz ?? batchClocks(conditions)
  const best = bestOf(clocks, 1 - BEST)
  if (best === undefined) return []
  return runsOf(clocks, (mhz) => mhz > 0 && mhz < best * MIN_SPEED).map(({ first, count }) => {
    const seen = Array.from({ length: count }, (_, i) => clocks[first + i]!).filter((mhz) => mhz > 0)
    return { kind: 'slow-clock', reason: `${Math.round(Math.min(...seen.slice(0, 10_000)))} of ${Math.round(best)} MHz`, first, count }
  })
}

/** The clock of its batch for each sample; 0 where it is not known. */
function batchClocks(conditions: Conditions): Float64Array {
  const clocks = new Float64Array(conditions.count)
  for (const { first, count, state } of batchesOf(conditions)) clocks.fill(state.smClockMhz ?? 0, first, first + count)
  return clocks
}

/**
 * Best time in ns of the fixed work beside the samples: that of the case itself, or a better one that the process saw
 * before, so that a case wholly beside something else is found out. Undefined where the work was not run.
 */
export function bestProbe(probesNs: ArrayLike<number> | undefined, states: readonly DeviceState[]): number | undefined {
  const own = probesNs && bestOf(probesNs, BEST)
  return own && states.reduce((best, { probeBestNs = best }) => Math.min(best, probeBestNs), own)
}

function slowedHost({ probesNs, states = [] }: Conditions): SampleLabel[] {
  const best = bestProbe(probesNs, states.map(({ state }) => state))
  if (!probesNs || best === undefined) return []
  return runsOf(probesNs, (ns) => ns * MIN_SPEED > best).map(({ first, count }) => {
    // Stretches that were joined have clean samples between.
    const slow = Float64Array.from({ length: count }, (_, i) => probesNs[first + i]! / best).filter((times) => times * MIN_SPEED > 1).sort()
    const [usual, worst] = [quantileOfSorted(slow, 0.5), slow.at(-1)!]
    const most = worst > usual * NOTABLY_WORSE ? `, at most ${worst.toFixed(1)}x` : ''
    return { kind: 'host-slowed', reason: `CPU speed probe took ${usual.toFixed(1)}x its best time${most}`, first, count }
  })
}

/** The quantile `q` of the readings there are; undefined for none. */
function bestOf(readings: ArrayLike<number>, q: number): number | undefined {
  const known = Float64Array.from(readings).filter((value) => value > 0 && Number.isFinite(value)).sort()
  return known.length > 0 ? quantileOfSorted(known, q) : undefined
}

/** Stretches of readings that are bad, joined across ever longer gaps until they are few enough to keep. */
function runsOf(readings: ArrayLike<number>, bad: (value: number) => boolean): { first: number; count: number }[] {
  const runs: { first: number; count: number }[] = []
  for (let i = 0; i < readings.length; i++) {
    if (!bad(readings[i]!)) continue
    const last = runs.at(-1)
    if (last && last.first + last.count === i) last.count++
    else runs.push({ first: i, count: 1 })
  }
  for (let gap = 1; runs.length > MAX_RUNS; gap *= 2) {
    const joined = runs.splice(0)
    for (const run of joined) {
      const last = runs.at(-1)
      if (last && run.first - (last.first + last.count) <= gap) last.count = run.first + run.count - last.first
      else runs.push(run)
    }
  }
  return runs
}

/** For each of `count` samples, 1 where it carries a label (of the kinds given) and 0 where it is clean. */
export function labelledMask(labels: readonly SampleLabel[], count: number, kind?: SampleLabel['kind']): Uint8Array {
  const mask = new Uint8Array(count)
  for (const label of labels) if (kind === undefined || label.kind === kind) mask.fill(1, label.first, label.first + label.count)
  return mask
}

const sum = (mask: Uint8Array) => mask.reduce((total, one) => total + one, 0)

/** Fewest clean samples, and least share of all samples, on which statistics may rest. */
const MIN_CLEAN = 5
const MIN_CLEAN_SHARE = 0.5

/** Which samples count, and why. */
export interface Choice {
  /** 1 for each sample that counts. */
  used: Uint8Array
  /** Samples without a label. */
  clean: number
  /** True where labelled samples are left out; false where all count, because all are clean or too few are. */
  setAside: boolean
}

/** Of interleaved rounds so many with clean samples are enough, however many others there are. */
const MIN_CLEAN_ROUNDS = 10

/** Rounds of which at least half of the samples are clean. */
function cleanRounds(mask: Uint8Array, rounds: Pick<NonNullable<Result['rounds']>, 'firstSamples'> | undefined): number {
  const first = rounds?.firstSamples ?? []
  return first.filter((from, i) => {
    const own = mask.subarray(from, first[i + 1] ?? mask.length)
    return 2 * sum(own) <= own.length
  }).length
}

/**
 * Clean samples count alone while they are at least five, and at least half of all or of at least five interleaved rounds;
 * otherwise every sample counts.
 */
export function chooseSamples(labels: readonly SampleLabel[] | undefined, count: number, rounds?: Pick<NonNullable<Result['rounds']>, 'firstSamples'>): Choice {
  const mask = labelledMask(labels ?? [], count)
  const clean = count - sum(mask)
  const enough = clean >= count * MIN_CLEAN_SHARE || cleanRounds(mask, rounds) >= MIN_CLEAN_ROUNDS
  const setAside = clean < count && clean >= MIN_CLEAN && enough
  return { used: setAside ? mask.map((labelled) => 1 - labelled) : mask.fill(1), clean, setAside }
}

/** The samples of a result on which its statistics and every comparison rest, in the order taken (see chooseSamples). */
export function cleanSamples(result: Pick<Result, 'samplesNs' | 'labels' | 'rounds'>): readonly number[] {
  if (!result.labels?.length) return result.samplesNs
  const { used, setAside } = chooseSamples(result.labels, result.samplesNs.length, result.rounds)
  return setAside ? result.samplesNs.filter((_, i) => used[i] === 1) : result.samplesNs
}

export const LABEL_TITLES: Readonly<Record<SampleLabel['kind'], string>> = { throttled: 'throttled', 'slow-clock': 'clock low', 'host-slowed': 'host slowed', disturbed: 'disturbed' }

/** How many samples carry each kind of label, in one line: `throttled (power limit) in 12 of 40, host slowed in 3 of 40`. */
export function describeLabels(labels: readonly SampleLabel[], count: number): string {
  const kinds = [...new Set(labels.map((label) => label.kind))]
  return kinds
    .map((kind) => {
      const reasons = [...new Set(labels.filter((label) => label.kind === kind).map((label) => label.reason))]
      const why = reasons.length === 1 || kind === 'throttled' ? ` (${reasons.join('; ')})` : ''
      return `${LABEL_TITLES[kind]}${why} in ${sum(labelledMask(labels, count, kind))} of ${count}`
    })
    .join(', ')
}
