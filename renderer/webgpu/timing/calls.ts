/** The work of one case, as the timers encode it. */
export interface Calls {
  /** Encodes `count` calls one after the other. */
  encode(pass: GPUComputePassEncoder, count: number): void
  /** Dispatches in one call. */
  dispatches: number
}

/** Takes samples of one case. Each returns at least one sample and at most `count`, in ns per call. */
export interface CaseTimer {
  /** Back to back: the difference between passes of `inner` and of twice as many calls. */
  hot(count: number, inner: number): Promise<Float64Array>
  /** One call after the caches were flushed. */
  cold(count: number): Promise<Float64Array>
}

/** A submission lasts about this at most, so that the page answers and no driver watchdog bites. */
export const SUBMISSION_NS = 50e6
/** Dispatches of one submission: more take long to encode. */
export const SUBMISSION_DISPATCHES = 20_000
/** A request that takes longer returns the samples it has. */
export const REQUEST_MS = 400
/** Most calls in one pass, whatever was asked for. */
export const MAX_CALLS = 1 << 16

/** Samples that fit into a submission, given what one is thought to take. */
export function samplesPerSubmission(wanted: number, slots: number, nsPerSample: number, dispatchesPerSample: number): number {
  const fits = Math.min(slots, Math.floor(SUBMISSION_NS / Math.max(1, nsPerSample)), Math.floor(SUBMISSION_DISPATCHES / Math.max(1, dispatchesPerSample)))
  return Math.max(1, Math.min(wanted, fits))
}
