import type { InputValues } from './types'

const BITS = 11
const BUCKETS = 1 << BITS

/**
 * Indices of `values` in ascending or descending order, equal values by first index: a radix sort on the bits of f32, which hold every
 * storage type exactly. -0 equals 0. The values are finite.
 */
export function stableOrder(values: InputValues, descending: boolean): Int32Array {
  const count = values.length
  const floats = new Float32Array(count)
  // Adding zero turns -0 into 0.
  for (let i = 0; i < count; i++) floats[i] = values[i]! + 0
  const keys = new Uint32Array(floats.buffer)
  for (let i = 0; i < count; i++) {
    const ascending = (keys[i]! & 0x80000000 ? ~keys[i]! : keys[i]! | 0x80000000) >>> 0
    keys[i] = descending ? ~ascending : ascending
  }
  let order = Int32Array.from({ length: count }, (_, i) => i)
  let next = new Int32Array(count)
  const starts = new Int32Array(BUCKETS + 1)
  for (let shift = 0; shift < 32; shift += BITS) {
    starts.fill(0)
    for (let i = 0; i < count; i++) starts[((keys[i]! >>> shift) & (BUCKETS - 1)) + 1]!++
    for (let bucket = 0; bucket < BUCKETS; bucket++) starts[bucket + 1]! += starts[bucket]!
    for (let i = 0; i < count; i++) next[starts[(keys[order[i]!]! >>> shift) & (BUCKETS - 1)]!++] = order[i]!
    ;[order, next] = [next, order]
  }
  return order
}
