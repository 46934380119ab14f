const BITS = 16
const BUCKETS = 1 << BITS

/**
 * Order-preserving 64-bit image of a double as two uint32: flip all bits of negatives and the sign bit of the rest
 * (M. Herf, "Radix tricks", 2001). NaN, which stands for "no value", is placed after everything in both directions.
 */
function images(keys: Float64Array, descending: boolean): { high: Uint32Array; low: Uint32Array } {
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2)
  const high = new Uint32Array(keys.length)
  const low = new Uint32Array(keys.length)
  for (let i = 0; i < keys.length; i++) {
    if (Number.isNaN(keys[i])) {
      high[i] = low[i] = 0xffffffff
      continue
    }
    const h = bits[2 * i + 1]!
    const negative = (h & 0x80000000) !== 0 ? -1 : 0
    const flip = descending ? ~negative : negative
    high[i] = (h ^ (negative ? 0 : 0x80000000) ^ (negative ? 0xffffffff : 0) ^ (descending ? 0xffffffff : 0)) >>> 0
    low[i] = (bits[2 * i]! ^ flip) >>> 0
  }
  return { high, low }
}

/**
 * Sorts row indices in place by `keys[row]`, stably, so that sorting by the least important column first gives a
 * multi-column order. Least-significant-digit radix sort: 100,000 rows take a few milliseconds.
 */
export function sortByKeys(order: Uint32Array, keys: Float64Array, descending: boolean): void {
  const { high, low } = images(keys, descending)
  let from = order
  let to: Uint32Array = new Uint32Array(order.length)
  const counts = new Uint32Array(BUCKETS)
  for (let pass = 0; pass < 4; pass++) {
    const words = pass < 2 ? low : high
    const shift = (pass & 1) * BITS
    counts.fill(0)
    for (let i = 0; i < from.length; i++) counts[(words[from[i]!]! >>> shift) & (BUCKETS - 1)]!++
    // Every row has the same digit: nothing to move.
    if (from.length === 0 || counts[(words[from[0]!]! >>> shift) & (BUCKETS - 1)] === from.length) continue
    let sum = 0
    for (let b = 0; b < BUCKETS; b++) {
      const n = counts[b]!
      counts[b] = sum
      sum += n
    }
    for (let i = 0; i < from.length; i++) {
      const digit = (words[from[i]!]! >>> shift) & (BUCKETS - 1)
      to[counts[digit]!++] = from[i]!
    }
    ;[from, to] = [to, from]
  }
  if (from !== order) order.set(from)
}
