/** Bandwidth of reads of a working set, over and over. */
export interface ReadRate {
  /** Bytes of the working set. */
  bytes: number
  /** Bytes read per ns. */
  rate: number
}

/** Working sets of a sweep from `from` to `to` bytes: two per octave, multiples of 16 bytes, smallest first. */
export function sweepSizes(from: number, to: number): number[] {
  const steps = Math.max(0, Math.floor(2 * Math.log2(to / from)))
  return Array.from({ length: steps + 1 }, (_, i) => Math.round((from * 2 ** (i / 2)) / 16) * 16)
}

/** Reads of memory differ by this much between sizes, without any cache. */
const SPREAD = 1.1
/** A cache reads faster than memory by at least this, or it cannot be told from noise. */
const GAIN = 1.2
/** Sizes beyond the last-level cache that show the bandwidth of memory: an octave and a half. */
const PLATEAU = 3

/**
 * The working set in bytes from which reads gain nothing from any cache of the device: the bandwidth of the sweep is that of memory
 * there and at all larger sizes. It is the last-level cache rounded up by a step of the sweep or two, because a set somewhat larger than the cache
 * is still held in part. `reason`: why the sweep (smallest first) does not show it.
 */
export function lastLevelBytes(sweep: readonly ReadRate[]): { bytes: number } | { reason: string } {
  const beyond = sweep.slice(-PLATEAU)
  if (sweep.length < 2 * PLATEAU) return { reason: `the sweep has ${sweep.length} sizes` }
  const rates = beyond.map(({ rate }) => rate).sort((a, b) => a - b)
  const memory = rates[PLATEAU >> 1]!
  if (rates.at(-1)! > SPREAD * rates[0]!) return { reason: 'the bandwidth of the largest sizes still changes' }
  const within = sweep.findLastIndex(({ rate }) => rate > SPREAD * memory)
  const fastest = Math.max(...sweep.map(({ rate }) => rate))
  if (within < 0 || fastest < GAIN * memory) return { reason: 'no size is read faster than memory' }
  return { bytes: sweep[within + 1]!.bytes }
}
