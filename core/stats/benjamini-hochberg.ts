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
