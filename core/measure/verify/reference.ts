import type { Dtype, Params } from '../../case'
import { paramText } from '../../case'
import type { Op, ReadInput } from '../../ops/types'
import { fillRange } from '../../random'
import type { Range } from './plan'

/** Reference values kept, so that the same problem on many implementations is computed once. */
const CACHE_BYTES = 96 * 1024 * 1024

const cache = new Map<string, Float64Array>()
let cachedBytes = 0

function remember(key: string, values: Float64Array): void {
  cache.set(key, values)
  cachedBytes += values.byteLength
  for (const [oldest, dropped] of cache) {
    if (cachedBytes <= CACHE_BYTES) return
    cache.delete(oldest)
    cachedBytes -= dropped.byteLength
  }
}

/**
 * The float64 reference of parts of one problem. Ranges are cached (least recently used goes first) by op, parameters,
 * dtype, seed and place, across cases. The returned arrays are shared: do not write to them.
 */
export function createReference(op: Op, params: Params, dtype: Dtype, seed: number): (range: Range) => Float64Array {
  const inputs = op.inputs(params)
  const prefix = `${op.id}|${paramText(params)}|${dtype}|${seed}|`
  const last = inputs.map((): { start: number; count: number; values: Float32Array } => ({ start: -1, count: 0, values: new Float32Array(0) }))
  // An op may read the same operand for every range (the second matrix of a product), so each input's last read is kept.
  const read: ReadInput = (input, start, count) => {
    const spec = inputs[input]
    const kept = last[input]
    if (!spec || !kept) throw new Error(`op "${op.id}" reads input ${input}; it has ${inputs.length}`)
    if (kept.start !== start || kept.count !== count) {
      kept.values = fillRange(seed, input, spec.fill, dtype, start, count)
      kept.start = start
      kept.count = count
    }
    return kept.values
  }
  return ({ start, count }) => {
    const key = `${prefix}${start}+${count}`
    const hit = cache.get(key)
    if (hit) {
      cache.delete(key)
      cache.set(key, hit)
      return hit
    }
    const values = op.reference(params, read, start, count)
    if (values.length !== count) throw new Error(`reference of "${op.id}" gave ${values.length} elements for ${count}`)
    remember(key, values)
    return values
  }
}

/** Forgets all cached reference values. */
export function clearReferenceCache(): void {
  cache.clear()
  cachedBytes = 0
}
