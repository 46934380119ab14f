export { criterionFor, timeFrame } from './criterion-for'
export { fixedCountCriterion, fixedTimeCriterion } from './fixed'
export { relativeCiCriterion } from './relative-ci'
export type { Decision, SamplingProgress, StoppingCriterion } from './types'
