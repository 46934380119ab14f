import { libraryOf, type Library } from './libraries'
import type { Rating, RatingSubject } from './types'

/** Rating nothing, because the library to compare with was not measured. */
export const missing = (library: Library): Rating => ({ ok: false, reason: `The session has no right result of ${library} for the same work, mode and device. Measure it too (Python among the backends), or import one and merge the sessions.` })

export const NO_CEILINGS: Rating = { ok: false, reason: 'The ceilings of the device that measured this are not known here. On its machine: Devices, Measure ceilings.' }

/** Whether the result is the library's own. */
export const selfRated = (subject: RatingSubject, library: Library): boolean => libraryOf(subject.case) === library
