import { quantileOfSorted, sorted } from '../stats/descriptive'

/** One measurement of a series, in the order taken. ns per call. */
export interface SeriesPoint {
  medianNs: number
  /** 95 % CI of the median, where there is one. */
  ciLowNs?: number
  ciHighNs?: number
}

/** A place from which on the level is another. */
export interface ChangePoint {
  /** Index of the first point at the new level. */
  at: number
  /** Level after over level before (1.05: 5 % slower) with its 95 % CI. */
  ratio: number
  low: number
  high: number
}

export interface Changes {
  changes: ChangePoint[]
  /** Level (ns) from point `first` up to `last`, both included; one where nothing changed, none for a drift or no points. */
  segments: { first: number; last: number; levelNs: number }[]
  /** A straight line explains the series better than steps do: its last value over its first. */
  drift?: { ratio: number }
  /** Points that stand alone, like none of the two on either side: shown, not counted. */
  outliers: number[]
}

/** With fewer points a change and an outlier look alike. */
const MIN_POINTS = 4
/** A level needs two measurements: one alone is an outlier. */
const MIN_SEGMENT = 2
/** Standard deviations beyond which a point is unlike its neighbours. */
const ALONE = 4
const Z95 = 1.96

/**
 * Where the level of a series changed. Medians are taken as logarithms, so that changes are ratios; their noise is
 * estimated from the differences of neighbours, which a step hardly touches, and is never less than the intervals say
 * nor than a quarter of `threshold`, below which nothing is reported.
 *
 * Levels are fitted by least squares with a penalty for each change, solved exactly (segments.ts). The penalty is that of the modified BIC (Zhang and Siegmund 2007, Biometrics 63:22),
 * 3 ln n in units of the variance. Single outliers, which least squares would follow (Fearnhead and Rigaill 2019, JASA
 * 114:169), are set apart first.
 */
export function changePoints(points: readonly SeriesPoint[], threshold: number): Changes {
  const usable = points.flatMap(({ medianNs }, at) => (medianNs > 0 && Number.isFinite(medianNs) ? [at] : []))
  const logs = usable.map((at) => Math.log(points[at]!.medianNs))
  if (usable.length < MIN_POINTS) return { changes: [], segments: [], outliers: [] }
  const sigma = noiseOf(logs, usable.map((at) => points[at]!), threshold)
  const alone = new Set(logs.flatMap((value, i) => (standsAlone(logs, i, ALONE * sigma) ? [i] : [])))
  const kept = logs.map((_, i) => i).filter((i) => !alone.has(i))
  const outliers = [...alone].map((i) => usable[i]!)
  if (kept.length < MIN_POINTS) return { changes: [], segments: [], outliers: [] }
  const values = kept.map((i) => logs[i]! / sigma)
  const penalty = 3 * Math.log(values.length)
  const starts = prune(values, bestSegments(values, penalty, MIN_SEGMENT), Math.log1p(threshold) / sigma)
  const placeOf = (i: number) => usable[kept[i]!]!
  const line = lineOf(values)
  const steps = starts.reduce((sum, start, i) => sum + costOf(values, start, starts[i + 1] ?? values.length), 0) + penalty * (starts.length - 1)
  if (starts.length > 2 && line.cost + penalty < steps) return { changes: [], segments: [], drift: { ratio: Math.exp(line.slope * (values.length - 1) * sigma) }, outliers }
  const parts = starts.map((start, i) => ({ start, end: starts[i + 1] ?? values.length }))
  const level = ({ start, end }: { start: number; end: number }) => meanOf(values, start, end) * sigma
  return {
    changes: parts.slice(1).map((part, i) => {
      const before = parts[i]!
      const difference = level(part) - level(before)
      const half = Z95 * sigma * Math.sqrt(1 / (part.end - part.start) + 1 / (before.end - before.start))
      return { at: placeOf(part.start), ratio: Math.exp(difference), low: Math.exp(difference - half), high: Math.exp(difference + half) }
    }),
    segments: parts.map((part) => ({ first: placeOf(part.start), last: placeOf(part.end - 1), levelNs: Math.exp(level(part)) })),
    outliers,
  }
}

/** Standard deviation from one measurement to the next, as a fraction: by differences of neighbours, whose own is sqrt 2 times that. */
function noiseOf(logs: readonly number[], points: readonly SeriesPoint[], threshold: number): number {
  const steps = sorted(logs.slice(1).map((value, i) => Math.abs(value - logs[i]!)))
  const mad = steps ? quantileOfSorted(steps, 0.5) : 0
  // The median of few absolute differences is too small too often.
  const between = ((1.4826 * mad) / Math.SQRT2) * (1 + 4 / logs.length)
  const halves = sorted(points.flatMap(({ medianNs, ciLowNs, ciHighNs }) => (ciLowNs === undefined || ciHighNs === undefined ? [] : [(ciHighNs - ciLowNs) / 2 / medianNs / Z95])))
  const within = halves ? quantileOfSorted(halves, 0.5) : 0
  return Math.max(between, within, threshold / 4, 1e-6)
}

/** Whether none of the two points on either side is within `far`. */
function standsAlone(values: readonly number[], at: number, far: number): boolean {
  return [at - 2, at - 1, at + 1, at + 2].every((i) => values[i] === undefined || Math.abs(values[i] - values[at]!) > far)
}

const meanOf = (values: readonly number[], start: number, end: number) => values.slice(start, end).reduce((sum, value) => sum + value, 0) / (end - start)

function costOf(values: readonly number[], start: number, end: number): number {
  const mean = meanOf(values, start, end)
  return values.slice(start, end).reduce((sum, value) => sum + (value - mean) ** 2, 0)
}

/** Drops the change with the smallest effect until every one left is at least `least` standard deviations. */
function prune(values: readonly number[], starts: readonly number[], least: number): number[] {
  const left = [...starts]
  while (left.length > 1) {
    const means = left.map((start, i) => meanOf(values, start, left[i + 1] ?? values.length))
    const effects = means.slice(1).map((mean, i) => Math.abs(mean - means[i]!))
    const smallest = effects.indexOf(Math.min(...effects))
    if (effects[smallest]! >= least) break
    left.splice(smallest + 1, 1)
  }
  return left
}

/** Least-squares line over the indices: slope per step, and squared residuals. */
function lineOf(values: readonly number[]): { slope: number; cost: number } {
  const n = values.length
  const middle = (n - 1) / 2
  const mean = meanOf(values, 0, n)
  let xy = 0
  let xx = 0
  values.forEach((value, i) => {
    xy += (i - middle) * (value - mean)
    xx += (i - middle) ** 2
  })
  const slope = xy / xx
  return { slope, cost: values.reduce((sum, value, i) => sum + (value - mean - slope * (i - middle)) ** 2, 0) }
}

/**
 * Splits a series into segments of at least `shortest` values, so that the squared residuals about the segments' means plus
 * `penalty` for each change are least. Gives the first index of each segment, [0] where nothing changes or the series is
 * shorter than two segments.
 *
 * Optimal partitioning with PELT's pruning (Killick, Fearnhead and Eckley 2012, JASA 107:1590). A start that is worse at
 * `end` than a change there is worse wherever such a change can be followed by a whole segment: from `end + shortest` on,
 * and only there it is dropped. Dropping it at once, as for segments of one value, loses the best split now and then.
 */
export function bestSegments(values: readonly number[], penalty: number, shortest: number): number[] {
  const n = values.length
  const sums = new Float64Array(n + 1)
  const squares = new Float64Array(n + 1)
  // About the first value, so that sums of squares keep their digits.
  values.forEach((value, i) => {
    sums[i + 1] = sums[i]! + value - values[0]!
    squares[i + 1] = squares[i]! + (value - values[0]!) ** 2
  })
  /** Least cost of the values before each index, the penalty of a change there included. */
  const best = new Float64Array(n + 1).fill(Infinity)
  const from = new Int32Array(n + 1)
  best[0] = 0
  /** Starts that may still win, each with its cost up to `end`, in the first `count` places; and from which end on one is dropped. */
  const candidates = new Int32Array(n + 1)
  const costs = new Float64Array(n + 1)
  const dropAt = new Int32Array(n + 1).fill(n + 1)
  let count = 1
  for (let end = shortest; end <= n; end++) {
    let least = Infinity
    let winner = 0
    for (let i = 0; i < count; i++) {
      const start = candidates[i]!
      const difference = sums[end]! - sums[start]!
      const cost = best[start]! + (squares[end]! - squares[start]! - (difference * difference) / (end - start))
      costs[i] = cost
      if (cost < least) {
        least = cost
        winner = start
      }
    }
    best[end] = least + penalty
    from[end] = winner
    let kept = 0
    for (let i = 0; i < count; i++) {
      const start = candidates[i]!
      if (costs[i]! > best[end]!) dropAt[start] = Math.min(dropAt[start]!, end + shortest)
      if (dropAt[start]! > end + 1) candidates[kept++] = start
    }
    candidates[kept++] = end - shortest + 1
    count = kept
  }
  const starts: number[] = []
  for (let end = n; end > 0; end = from[end]!) starts.unshift(from[end]!)
  return starts
}
