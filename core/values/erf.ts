const TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI)
const SQRT_PI = Math.sqrt(Math.PI)

/** Where the series would need more terms than the fraction. */
const SWITCH = 2.5

/** Abramowitz & Stegun 7.1.6: every term has the same sign, so nothing cancels. For 0 <= x < about 5. */
function erfSeries(x: number): number {
  const x2 = 2 * x * x
  let term = x
  let sum = x
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= x2 / (2 * n + 1)
    sum += term
  }
  return TWO_OVER_SQRT_PI * Math.exp(-x * x) * sum
}

/** NIST DLMF 7.9.1 (Laplace's continued fraction), evaluated from the far end. For x >= SWITCH. */
function erfcFraction(x: number): number {
  let tail = x
  for (let n = 60; n >= 1; n--) tail = x + n / 2 / tail
  return Math.exp(-x * x) / (SQRT_PI * tail)
}

/** Complementary error function in double precision: within 1e-12 relative for x < 2.5 (one minus the series), 1e-13 beyond. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN
  if (x < 0) return 2 - erfc(-x)
  if (x > 27.3) return 0
  return x < SWITCH ? 1 - erfSeries(x) : erfcFraction(x)
}

/** Error function in double precision, within 1e-15 absolute. */
export function erf(x: number): number {
  if (Number.isNaN(x)) return NaN
  const magnitude = Math.abs(x)
  const value = magnitude < SWITCH ? erfSeries(magnitude) : 1 - (magnitude > 6 ? 0 : erfcFraction(magnitude))
  return x < 0 ? -value : value
}
