import { tooShort, type PassPair } from './arithmetic'

/** The work of one case, as the timers encode it. */
export interface Calls {
  /** Encodes `count` calls one after the other. */
  encode(pass: GPUComputePassEncoder, count: number): void
  /** Dispatches in one call. */
  dispatches: number
}

/** Samples in ns per call, of `inner` calls each. */
export interface Taken {
  samplesNs: Float64Array
  inner: number
}

/** Takes samples of one case: at least one and at most `count`. */
export interface CaseTimer {
  /** Back to back: the difference between passes of `inner` (or more) and of twice as many calls. */
  hot(count: number, inner: number): Promise<Taken>
  /** One call after the caches were flushed. */
  cold(count: number): Promise<Taken>
  /** What the samples so far say about how they were taken. */
  notes(): string[]
}

/**
 * A submission lasts about this at most. Calls of one submission are alike, and those of another may all take some percent
 * more or less where they are short: many submissions make a median that holds for more than one of them.
 */
export const SUBMISSION_NS = 4e6
/** Dispatches of one submission: more take long to encode. */
const SUBMISSION_DISPATCHES = 20_000
/** A request that takes longer returns the samples it has. */
export const REQUEST_MS = 400
/** Most calls in one pass, whatever was asked for. */
export const MAX_CALLS = 1 << 16

/** Where noise hides the difference of two passes, they are made this much longer. */
const LENGTHEN = 4
/** A pass that lasts this long is not made longer: what still hides its time is no matter of length. */
const LONG_PASS_NS = 20e6

/** Takes up to `count` pairs of passes, of `calls` and of twice as many calls. */
type TakePairs = (count: number, calls: number) => Promise<readonly PassPair[]>

/**
 * Hot samples by `take` with the calls asked for, or with as many as noise has shown to need; later requests begin
 * there. `nsPerCall` is what `take` last saw. A few differences below zero are noise around a small time: as 0 they
 * leave the median where it is. Where noise hides the differences of passes that are as long as they get (threads of a
 * software adapter that wait for a processor), what a pass costs is little beside it: from then on whole passes are timed.
 */
export function lengthening(take: TakePairs, nsPerCall: () => number | undefined): Pick<CaseTimer, 'hot' | 'notes'> {
  let least = 1
  let isWhole = false
  return {
    notes: () => (isWhole ? ['Noise hides the difference between a pass and one of twice as many calls: whole passes are timed, with what a pass costs.'] : []),
    async hot(count, inner) {
      for (;;) {
        const calls = Math.min(MAX_CALLS, Math.max(inner, least))
        const pairs = await take(count, calls)
        const differences = Float64Array.from(pairs, ({ onceNs, twiceNs }) => (twiceNs - onceNs) / calls)
        const isHidden = tooShort(differences)
        isWhole ||= isHidden && (calls >= MAX_CALLS || calls * (nsPerCall() ?? 0) >= LONG_PASS_NS)
        if (isWhole) return { samplesNs: Float64Array.from(pairs, ({ onceNs, twiceNs }) => (onceNs + twiceNs) / (3 * calls)), inner: calls }
        if (!isHidden) return { samplesNs: differences.map((ns) => Math.max(0, ns)), inner: calls }
        least = calls * LENGTHEN
      }
    },
  }
}

/** Samples that fit into a submission, given what one is thought to take. */
export function samplesPerSubmission(wanted: number, slots: number, nsPerSample: number, dispatchesPerSample: number): number {
  const fits = Math.min(slots, Math.floor(SUBMISSION_NS / Math.max(1, nsPerSample)), Math.floor(SUBMISSION_DISPATCHES / Math.max(1, dispatchesPerSample)))
  return Math.max(1, Math.min(wanted, fits))
}
