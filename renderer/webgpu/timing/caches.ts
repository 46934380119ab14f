/** More than the last-level cache of any GPU known here; the browser does not tell the real one. */
const GPU_BYTES = 128 * 2 ** 20
/** A software adapter would spend longer on sweeping more than this than on the case. */
const SOFTWARE_BYTES = 4 * 2 ** 20

/** Size of the largest cache the device may have, in bytes. */
export const lastLevelBytes = (software: boolean): number => (software ? SOFTWARE_BYTES : GPU_BYTES)
