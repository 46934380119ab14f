/** A mean of values that came in clusters, with its standard error and the degrees of freedom behind it. */
export interface ClusteredMean {
  estimate: number
  error: number
  degrees: number
}

const TRIM = 0.2

/**
 * 20 % trimmed mean of values of which those of one cluster may depend on each other; undefined for fewer than two clusters. Its error comes from
 * the influence of each value, which is its winsorised distance from the centre (Tukey and McLaughlin 1963; Yuen 1974): the greater of that of independent
 * values and that of sums over clusters (Liang and Zeger 1986). It has no more degrees of freedom than the values left, nor than as many clusters of equal
 * size as have this variance (Kish 1965, section 5.4).
 */
export function clusteredMean(values: ArrayLike<number>, clusters: ArrayLike<number>): ClusteredMean | undefined {
  const n = values.length
  const ascending = Float64Array.from(values).sort()
  const cut = Math.floor(TRIM * n)
  const left = n - 2 * cut
  const [low, high] = [ascending[cut]!, ascending[n - 1 - cut]!]
  let sum = 0
  for (let i = cut; i < n - cut; i++) sum += ascending[i]!
  const winsorised = Float64Array.from(values, (value) => Math.min(high, Math.max(low, value)))
  const centre = winsorised.reduce((total, value) => total + value, 0) / n
  const sums = new Map<number, { influence: number; count: number }>()
  let squares = 0
  for (let i = 0; i < n; i++) {
    const influence = winsorised[i]! - centre
    squares += influence ** 2
    const cluster = sums.get(clusters[i]!) ?? { influence: 0, count: 0 }
    cluster.influence += influence
    cluster.count++
    sums.set(clusters[i]!, cluster)
  }
  if (sums.size < 2) return undefined
  let between = 0
  let counts = 0
  for (const { influence, count } of sums.values()) {
    between += influence ** 2
    counts += count ** 2
  }
  const variance = Math.max((squares * n) / (n - 1), (between * sums.size) / (sums.size - 1))
  return { estimate: sum / left, error: Math.sqrt(variance) / left, degrees: Math.max(1, Math.min(left, n ** 2 / counts) - 1) }
}
