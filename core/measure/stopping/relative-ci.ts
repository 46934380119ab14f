import { quantileOfSorted, sorted } from '../../stats/quantile'
import { serialIntervalOf } from '../../stats/serial'
import { relativeInterval } from '../../stats/summarize'
import type { MeasureSettings } from '../settings'
import { MAX_SAMPLES, SLOW_SAMPLES, type SamplingProgress, type StoppingCriterion } from './types'

/** Sample counts grow by this factor between two entries of the noise history. */
const HISTORY_GROWTH = 2
/** Doubling the samples should narrow the interval to 0.71; above this it no longer falls. */
const STALLED = 0.92
/** Noise is called stuck only after this many times the least time: drift of a device that warms up passes. */
const PATIENCE = 8

const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(2))} %`

/** What counts towards the least time: flushes and launches too, so that a 2 us case with a long flush ends. */
const spent = (p: SamplingProgress) => Math.max(p.measuredSeconds, p.elapsedSeconds)

/**
 * Until the 95 % interval of the median is within ± `relativeCi`, after at least `minSamples` and `minSeconds`.
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
      const reached = relativeCi === undefined ? 'too few samples for a CI' : `95 % CI still ±${percent(relativeCi)}`
      if (timeUp) return { stop: true, converged: false, reason: `time limit of ${settings.maxSeconds} s reached, ${reached}`, ...known }
      if (count >= MAX_SAMPLES) return { stop: true, converged: false, reason: `sample limit of ${MAX_SAMPLES} reached, ${reached}`, ...known }
      if (relativeCi === undefined) return { stop: false }
      if (!falls(count, relativeCi) && p.elapsedSeconds >= PATIENCE * settings.minSeconds) return { stop: true, converged: false, reason: `more samples no longer narrow the CI, ${reached}`, ...known }
      // The width of an interval falls with the square root of the samples.
      return { stop: false, relativeCi, expectedSamples: Math.ceil(count * (relativeCi / settings.relativeCi) ** 2) }
    },
  }
}
