/** What a stopping rule may look at after each batch. */
export interface SamplingProgress {
  /** The samples that count (core/measure/labels.ts), in the order taken, ns per call. */
  samplesNs: ArrayLike<number>
  /** Sum of the durations of those samples, in seconds. */
  measuredSeconds: number
  /** Wall time since sampling began, in seconds: flushes and set-up of batches count. */
  elapsedSeconds: number
}

export type Decision =
  | { stop: false; relativeCi?: number; /** Samples, counted from the first, that would probably be enough. */ expectedSamples?: number }
  | { stop: true; converged: boolean; reason: string; relativeCi?: number }

/** Says when a case has been sampled enough. Holds the history of one case: make a new one for each. */
export interface StoppingCriterion {
  readonly id: string
  /** Whether the samples of the warm-up's settled window count. Rules that promise an exact count or time do not take them. */
  readonly takesWarmUp?: boolean
  /** Samples it will ask for, where that is known before the first. */
  readonly planned?: number
  decide(progress: SamplingProgress): Decision
}

/** One call that lasts longer than the whole limit is still measured this often. */
export const SLOW_SAMPLES = 2

/** More samples than this say nothing new and only take memory; a fixed count may ask for more. */
export const MAX_SAMPLES = 200_000
