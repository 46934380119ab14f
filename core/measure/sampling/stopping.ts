import { quantileOfSorted, sorted } from '../../stats/descriptive'
import { serialIntervalOf } from '../../stats/serial'
import { relativeInterval } from '../../stats/summarize'
import { formatHalfWidth, withoutLocale } from '../../units'
import type { MeasureSettings } from '../settings'

/** What a stopping rule may look at after each batch. */
export interface SamplingProgress {
  /** The samples that count (core/measure/result/labels.ts), in the order taken, ns per call. */
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
const SLOW_SAMPLES = 2

/** More samples than this say nothing new and only take memory; a fixed count may ask for more. */
const MAX_SAMPLES = 200_000

/** A new criterion for one case by the rule of its settings. */
export function criterionFor(settings: MeasureSettings): StoppingCriterion {
  const { rule, maxSeconds } = settings
  switch (rule?.id) {
    case undefined:
    case 'relative-ci':
      return relativeCiCriterion(settings)
    case 'fixed-count':
      return fixedCountCriterion(rule.count, maxSeconds)
    case 'fixed-time':
      return fixedTimeCriterion(rule.seconds, maxSeconds)
  }
}

/** Wall time that sampling is planned to last: at least, and at most. Batches and samples are cut to fit it. */
export function timeFrame({ rule, minSeconds, maxSeconds }: MeasureSettings): { minSeconds: number; maxSeconds: number } {
  if (rule?.id !== 'fixed-time') return { minSeconds, maxSeconds }
  const seconds = Math.min(rule.seconds, maxSeconds)
  return { minSeconds: seconds, maxSeconds: seconds }
}

/** Sample counts grow by this factor between two entries of the noise history. */
const HISTORY_GROWTH = 2
/** Doubling the samples should narrow the interval to 0.71; above this it no longer falls. */
const STALLED = 0.92
/** Noise is called stuck only after this many times the least time: drift of a device that warms up passes. */
const PATIENCE = 8

const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(2))} %`
/** `still ±3304 %`, with the digits that the interval has elsewhere; of no locale, since the text is kept with the result. */
export const stillText = (relativeCi: number): string => `still ${withoutLocale(() => formatHalfWidth(relativeCi))}`

/** What counts towards the least time: flushes and launches too, so that a 2 us case with a long flush ends. */
const spent = (p: SamplingProgress) => Math.max(p.measuredSeconds, p.elapsedSeconds)

/**
 * Until the 95 % CI of the median is within ± `relativeCi`, after at least `minSamples` and `minSeconds`.
 * Ends unconverged after `maxSeconds`, or when the interval has stopped narrowing over two doublings of the samples.
 */
export function relativeCiCriterion(settings: Pick<MeasureSettings, 'relativeCi' | 'minSamples' | 'minSeconds' | 'maxSeconds'>): StoppingCriterion {
  const history: { samples: number; width: number }[] = []
  let stalls = 0

  const falls = (samples: number, width: number): boolean => {
    const last = history.at(-1)
    if (!last) history.push({ samples, width })
    else if (samples >= last.samples * HISTORY_GROWTH) {
      stalls = width > last.width * STALLED ? stalls + 1 : 0
      history.push({ samples, width })
    }
    return stalls < 2
  }

  /** Samples that satisfy both minima at the pace so far. */
  const least = (p: SamplingProgress): number => {
    const seconds = spent(p)
    const forTime = seconds > 0 ? Math.ceil((p.samplesNs.length * settings.minSeconds) / seconds) : 0
    return Math.max(settings.minSamples, forTime + 1)
  }

  return {
    id: 'relative-ci',
    takesWarmUp: true,
    decide(p) {
      const count = p.samplesNs.length
      const timeUp = p.elapsedSeconds >= settings.maxSeconds && count >= SLOW_SAMPLES
      const enough = count >= settings.minSamples && spent(p) >= settings.minSeconds
      if (!enough && !timeUp) return { stop: false, expectedSamples: least(p) }

      const ascending = sorted(p.samplesNs)
      const relativeCi = ascending && relativeInterval(serialIntervalOf(p.samplesNs, ascending), quantileOfSorted(ascending, 0.5))
      const known = relativeCi === undefined ? {} : { relativeCi }
      if (enough && relativeCi !== undefined && relativeCi <= settings.relativeCi) {
        return { stop: true, converged: true, reason: `95 % CI within ±${percent(settings.relativeCi)}`, ...known }
      }
      const reached = relativeCi === undefined ? 'too few samples for a CI' : `95 % CI ${stillText(relativeCi)}`
      if (timeUp) return { stop: true, converged: false, reason: `time limit of ${settings.maxSeconds} s reached, ${reached}`, ...known }
      if (count >= MAX_SAMPLES) return { stop: true, converged: false, reason: `sample limit of ${MAX_SAMPLES} reached, ${reached}`, ...known }
      if (relativeCi === undefined) return { stop: false }
      if (!falls(count, relativeCi) && p.elapsedSeconds >= PATIENCE * settings.minSeconds) return { stop: true, converged: false, reason: `more samples no longer narrow the CI, ${reached}`, ...known }
      // The width of an interval falls with the square root of the samples.
      return { stop: false, relativeCi, expectedSamples: Math.ceil(count * (relativeCi / settings.relativeCi) ** 2) }
    },
  }
}

/** The limit of wall time holds for every rule, but never before a slow case has been seen twice. */
const timeIsUp = (p: SamplingProgress, maxSeconds: number) => p.elapsedSeconds >= maxSeconds && p.samplesNs.length >= SLOW_SAMPLES

/** `count` samples, whatever the noise; converged means that they were all taken before `maxSeconds` of wall time. */
export function fixedCountCriterion(count: number, maxSeconds = Infinity): StoppingCriterion {
  return {
    id: 'fixed-count',
    planned: count,
    decide(p) {
      const taken = p.samplesNs.length
      if (taken >= count) return { stop: true, converged: true, reason: `${count} samples taken` }
      if (timeIsUp(p, maxSeconds)) return { stop: true, converged: false, reason: `time limit of ${maxSeconds} s reached with ${taken} of ${count} samples` }
      return { stop: false, expectedSamples: count }
    },
  }
}

/** Samples for `seconds` of wall time, at least two; unconverged where `maxSeconds` ends it sooner. */
export function fixedTimeCriterion(seconds: number, maxSeconds = Infinity): StoppingCriterion {
  return {
    id: 'fixed-time',
    decide(p) {
      if (timeIsUp(p, seconds)) return { stop: true, converged: true, reason: `${seconds} s sampled` }
      if (timeIsUp(p, maxSeconds)) return { stop: true, converged: false, reason: `time limit of ${maxSeconds} s reached before the ${seconds} s of the rule` }
      if (p.samplesNs.length >= MAX_SAMPLES) return { stop: true, converged: true, reason: `${MAX_SAMPLES} samples taken before ${seconds} s had passed` }
      return { stop: false }
    },
  }
}


