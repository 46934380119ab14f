import type { Changes } from '@core/analysis/change-points'
import { extent, quantileOfSorted, sorted } from '@core/stats/descriptive'

/** A median with its interval, ns; an end is NaN where there is none. */
export interface Extent {
  medianNs: number
  lowNs: number
  highNs: number
}

/** Ends of the axis in ns, and the indices of points whose medians lie beyond them. */
export interface AxisRange {
  min: number
  max: number
  above: ReadonlySet<number>
  below: ReadonlySet<number>
}

/** Fewer points than this have no quartiles worth a fence. */
const MIN_POINTS = 4
/** Interquartile ranges outside the quartiles beyond which Tukey (1977) calls a point far out. */
const FAR_OUT = 3
/** What lies beyond the fences stays in view unless it makes the axis longer than this many times the rest. */
const STRETCH = 3
/** Medians closer than this share of each other count as spread by it: a flat series has room for its next point. */
const LEAST_SPREAD = 0.01

/** Ratios to the level that holds at each point; to 1 ns where no level was found. As logarithms. */
function overLevels(points: readonly Extent[], { segments }: Changes): number[] {
  return points.map(({ medianNs }, i) => Math.log(medianNs / (segments.findLast(({ first }) => first <= i) ?? segments[0] ?? { levelNs: 1 }).levelNs))
}

/**
 * An axis that a single far-out point cannot stretch: it holds all levels, and the medians and intervals within Tukey's
 * outer fences about them, with a little room and never below zero. Points beyond are on it as well where it stays readable.
 */
export function axisRange(points: readonly Extent[], changes: Changes): AxisRange {
  const all = extent(points.flatMap(({ medianNs, lowNs, highNs }) => [medianNs, lowNs, highNs]))
  const near = points.length < MIN_POINTS ? all : withoutFarOut(points, changes)
  const [low, high] = all[1] - all[0] <= STRETCH * Math.max(near[1] - near[0], near[1] * LEAST_SPREAD) ? all : near
  const room = Math.max((high - low) * 0.12, high * 0.005)
  const [min, max] = [Math.max(0, low - room), high + room]
  const where = (beyond: (medianNs: number) => boolean) => new Set(points.flatMap(({ medianNs }, i) => (beyond(medianNs) ? [i] : [])))
  return { min, max, above: where((median) => median > max), below: where((median) => median < min) }
}

function withoutFarOut(points: readonly Extent[], changes: Changes): [number, number] {
  const ratios = overLevels(points, changes)
  const ascending = sorted(ratios)!
  const [q1, q3] = [quantileOfSorted(ascending, 0.25), quantileOfSorted(ascending, 0.75)]
  const far = FAR_OUT * Math.max(q3 - q1, LEAST_SPREAD / 2)
  const [lower, upper] = [q1 - far, q3 + far]
  const kept = points.flatMap(({ medianNs, lowNs, highNs }, i) => {
    const ratio = ratios[i]!
    if (ratio < lower || ratio > upper) return []
    // The ends of an interval may be far out where its median is not.
    const fence = (limit: number) => medianNs * Math.exp(limit - ratio)
    return [medianNs, Math.max(lowNs, fence(lower)), Math.min(highNs, fence(upper))]
  })
  return extent([...kept, ...changes.segments.map(({ levelNs }) => levelNs)])
}
