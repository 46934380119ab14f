export * from './types'
export { compareSessions, type ComparedSession } from './compare-sessions'
export { THRESHOLD, verdictOf } from './verdict'
export * from './interleave'
