/** Geometric mean of positive finite numbers; undefined for none or when one is not. */
export function geometricMean(values: ArrayLike<number>): number | undefined {
  if (values.length === 0) return undefined
  let logs = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!(value > 0) || !Number.isFinite(value)) return undefined
    logs += Math.log(value)
  }
  return Math.exp(logs / values.length)
}
