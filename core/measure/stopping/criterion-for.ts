import type { MeasureSettings } from '../settings'
import { fixedCountCriterion, fixedTimeCriterion } from './fixed'
import { relativeCiCriterion } from './relative-ci'
import type { StoppingCriterion } from './types'

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
