import { CaseError } from '@core/backend'

/** Most sets of buffers one case gets: each costs a bind group and a fill. */
const MOST_SETS = 256
/** Share of the device's memory that the sets of a case may take. */
const MEMORY_SHARE = 1 / 4

export interface Room {
  /** Size of the last-level cache, or of the largest one the device may have. */
  cacheBytes: number
  /** Bytes that cases may take on this device. */
  memoryBytes: number
}

/**
 * Sets of `setBytes` bytes each that mode rotated needs: all together twice the last-level cache, so that a call never
 * finds what the call before its turn came around has left there; two at least. Throws a CaseError where they do not fit.
 */
export function setsNeeded(setBytes: number, { cacheBytes, memoryBytes }: Room): number {
  const sets = Math.max(2, Math.ceil((2 * cacheBytes) / setBytes))
  if (sets > MOST_SETS) {
    const least = Math.ceil((2 * cacheBytes) / MOST_SETS)
    throw new CaseError('unsupported', `Rotating buffers past a cache of ${cacheBytes} bytes takes ${sets} sets of ${setBytes} bytes, and ${MOST_SETS} are the most: choose a size of at least ${least} bytes, or mode cold.`)
  }
  if (sets * setBytes > memoryBytes * MEMORY_SHARE) {
    throw new CaseError('unsupported', `Rotating buffers takes ${sets} sets of ${setBytes} bytes, more than a quarter of the ${memoryBytes} bytes that cases may take on this device: choose a smaller size, or mode cold.`)
  }
  return sets
}
