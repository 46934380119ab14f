import { libraryOf, type Library } from './libraries'
import type { Rating, RatingSubject } from './types'

/** Rating nothing, because the library to compare with was not measured. */
export const missing = (library: Library): Rating => ({ ok: false, reason: `The session has no valid result of ${library} for the same work, mode and device. Measure it too (Python among the backends), or import one and merge the sessions.` })

export const NO_CEILINGS: Rating = { ok: false, reason: 'No ceilings are known for the device of this result. Measure them on its machine in Devices.' }

/** Whether the result is the library's own. */
export const selfRated = (subject: RatingSubject, library: Library): boolean => libraryOf(subject.case) === library
