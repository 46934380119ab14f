import { MAX_SAMPLES, SLOW_SAMPLES, type SamplingProgress, type StoppingCriterion } from './types'

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
