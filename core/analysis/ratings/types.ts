import type { BenchmarkCase } from '../../case'
import { libraryOf, type Library } from './libraries'

/** A right result as a suite's rating looks at it. */
export interface RatingSubject {
  case: BenchmarkCase
  /** ns per call */
  medianNs: number
  /** Share of the binding measured ceiling of its device; undefined where that is not known. */
  efficiency: number | undefined
  /** Minimum memory traffic per second as a share of the measured copy bandwidth of its device. */
  bandwidthShare: number | undefined
  /** Fastest time in ns of a library for the same work on the same device in the session; undefined where it has none. */
  fastestNs(library: Library): number | undefined
}

/** `score` orders ratings, the better the higher. Without a rating, the reason in one sentence. */
export type Rating = { ok: true; text: string; score: number } | { ok: false; reason: string }

/** How one of the suites that people come from judges a result; a file of core/analysis/ratings/suites. */
export interface RatingScale {
  /** As the file is called. */
  id: string
  /** Of a column. */
  title: string
  /** What is judged by what, for the header's hover. */
  about: string
  rate(subject: RatingSubject): Rating
  /** A whole session's ratings in a sentence; absent: how many have each word. Never asked without ratings. */
  summarize?(ratings: readonly Extract<Rating, { ok: true }>[]): string
}

/** Rating nothing, because the library to compare with was not measured. */
export const missing = (library: Library): Rating => ({ ok: false, reason: `The session has no valid result of ${library} for the same work, mode and device. Measure it too (Python among the backends), or import one and merge the sessions.` })

export const NO_CEILINGS: Rating = { ok: false, reason: 'No ceilings are known for the device of this result. Measure them on its machine in Devices.' }

/** Whether the result is the library's own. */
export const selfRated = (subject: RatingSubject, library: Library): boolean => libraryOf(subject.case) === library
