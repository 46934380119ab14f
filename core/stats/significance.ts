/**
 * Student's t distribution with `df` degrees of freedom (a positive number, Infinity for the normal distribution):
 * P(T > t). Through the regularised incomplete beta function, Abramowitz and Stegun 26.5.27; the relative error is below 1e-6,
 * beyond 1e7 degrees t^4 / 4e7 (1.7e-4 at t = 9).
 */
export function studentTail(t: number, df: number): number {
  if (t < 0) return 1 - studentTail(-t, df)
  if (t === Infinity) return 0
  // Beyond this many degrees the difference from the normal distribution is below the error of the function.
  return df > 1e7 ? normalTail(t) : incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2
}

/** The t whose upper tail holds `tail`, 0 < tail < 0.5: `studentQuantile(0.025, 5)` is 2.571. */
export function studentQuantile(tail: number, df: number): number {
  let low = 0
  let high = 1
  while (studentTail(high, df) > tail) high *= 2
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2
    if (studentTail(middle, df) > tail) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** P(Z > z), z >= 0: half the regularised upper incomplete gamma function Q(1/2, z^2 / 2), which is a limit of the beta function. */
const normalTail = (z: number) => incompleteBeta(1e7 / (1e7 + z * z), 5e6, 0.5) / 2

/** ln Gamma(x), x > 0: Stirling's series (Abramowitz and Stegun 6.1.41) after moving x above 10. */
function logGamma(x: number): number {
  let shift = 0
  for (; x < 10; x++) shift -= Math.log(x)
  const square = 1 / (x * x)
  return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + (1 / 12 - (1 / 360 - (1 / 1260 - square / 1680) * square) * square) / x
}

/** I_x(a, b) by its continued fraction (Abramowitz and Stegun 26.5.8), evaluated from the front after Lentz (1976). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  // The fraction converges fast on this side of the mean; the other side by symmetry.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const tiny = 1e-300
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1), tiny)
  let c = 1
  let fraction = d
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / awayFromZero(1 + even * d, tiny)
    c = awayFromZero(1 + even / c, tiny)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / awayFromZero(1 + odd * d, tiny)
    c = awayFromZero(1 + odd / c, tiny)
    const step = d * c
    fraction *= step
    if (Math.abs(step - 1) < 1e-14) break
  }
  return (Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a) * fraction
}

const awayFromZero = (value: number, tiny: number) => (Math.abs(value) < tiny ? tiny : value)

/**
 * p values adjusted for having looked at all of them (Benjamini and Hochberg 1995): those at most q are discoveries of
 * which an expected share of no more than q is false. In the order given; p in 0 .. 1.
 */
export function benjaminiHochberg(p: readonly number[]): number[] {
  const order = p.map((_, i) => i).sort((a, b) => p[b]! - p[a]!)
  const adjusted = new Array<number>(p.length)
  let least = 1
  order.forEach((at, i) => {
    least = Math.min(least, (p[at]! * p.length) / (p.length - i))
    adjusted[at] = least
  })
  return adjusted
}
