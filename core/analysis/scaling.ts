import { speedupOf, type RatioOfMedians, type Timing } from './timing'

/** A timing at so many threads, or rows. */
export interface ScaledTiming extends Timing {
  at: number
}

export interface ScalePoint<T extends ScaledTiming> {
  timing: T
  /** Against the smallest; the interval is absent where one of both has none. */
  gain: RatioOfMedians
  /** Gain at best: work shared by all threads at no cost, or more rows in the same time. */
  ideal: number
  /** Threads: gain / ideal (parallel efficiency). Rows: rate as a share of the best rate measured. */
  efficiency: number
}

const ascending = <T extends ScaledTiming>(timings: readonly T[]) => [...timings].filter((one) => one.at > 0 && one.medianNs > 0).sort((a, b) => a.at - b.at)

/**
 * Strong scaling: the same work on more threads. Speedup over the fewest threads measured and parallel efficiency, which
 * is the speedup as a share of the threads added (V. Kumar et al., "Introduction to Parallel Computing", 2003, section
 * 5.2), here relative to the fewest threads where one thread was not measured.
 */
export function threadScaling<T extends ScaledTiming>(timings: readonly T[]): ScalePoint<T>[] {
  const sorted = ascending(timings)
  const [first] = sorted
  if (!first) return []
  return sorted.map((timing) => {
    const gain = timing === first ? { ratio: 1 } : speedupOf(timing, first)!
    const ideal = timing.at / first.at
    return { timing, gain, ideal, efficiency: gain.ratio / ideal }
  })
}

/** Batching: more rows in one call. Rows per second over those of the smallest batch, and as a share of the best batch. */
export function batchScaling<T extends ScaledTiming>(timings: readonly T[]): ScalePoint<T>[] {
  const points = threadScaling(timings).map((point) => {
    const { ratio, low, high } = point.gain
    const gain = { ratio: ratio * point.ideal, ...(low === undefined || high === undefined ? {} : { low: low * point.ideal, high: high * point.ideal }) }
    return { ...point, gain }
  })
  const best = points.reduce((top, point) => Math.max(top, point.gain.ratio), 0)
  return points.map((point) => ({ ...point, efficiency: point.gain.ratio / best }))
}
