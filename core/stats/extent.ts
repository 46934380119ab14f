/** Smallest and largest value, without spreading a long list into a call. NaN is passed over; of no value Infinity and -Infinity. */
export function extent(values: Iterable<number>): [low: number, high: number] {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return [low, high]
}
