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
