import type { Dtype, Params } from '../../case'
import { paramText } from '../../case'
import type { Values } from '../../values/numbers'
import { inputsOf } from '../../ops/define'
import type { Op, ReadInput } from '../../ops/types'
import { fillRange } from '../../values/random'
import type { Range } from './plan'

/** Reference values kept in one thread, so that the same problem on many implementations is computed once. */
const CACHE_BYTES = 128 * 1024 * 1024

/** Work units below which values are computed again rather than kept: places of samples are many and small. */
const KEPT_WORK = 2000

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

/** One output of one problem: all that its reference depends on. */
export interface ReferenceProblem {
  op: Op
  params: Params
  dtype: Dtype
  seed: number
  output: number
}

let lastReader: { key: string; read: ReadInput } | undefined

/** The reader of the last problem, so that what an op works out once per reader (core/ops/define.ts) serves every range of it. */
function readerOf(problem: ReferenceProblem, key: string): ReadInput {
  if (lastReader?.key !== key) lastReader = { key, read: inputReader(problem) }
  return lastReader.read
}

/** Reads the inputs of a problem as its backend has them, each input's last read kept: an op may read the same operand for every range (the second matrix of a product). */
export function inputReader({ op, params, dtype, seed }: Omit<ReferenceProblem, 'output'>): ReadInput {
  const inputs = inputsOf(op, params, dtype)
  const last = inputs.map((): { start: number; count: number; values: Values } => ({ start: -1, count: 0, values: new Float32Array(0) }))
  return (input, start, count) => {
    const spec = inputs[input]
    const kept = last[input]
    if (!spec?.fill || !kept) throw new Error(`op "${op.id}" reads input ${input}; it has ${inputs.length}`)
    if (kept.start !== start || kept.count !== count) {
      kept.values = fillRange(seed, input, spec.fill, spec.storage, start, count)
      kept.start = start
      kept.count = count
    }
    return kept.values
  }
}

/**
 * The float64 reference of parts of one problem. Ranges are cached (least recently used goes first) by op, parameters,
 * dtype, seed and place, across cases; not where the reference is that of `got` alone. The returned arrays are shared: do
 * not write to them.
 */
export function createReference(problem: ReferenceProblem): (range: Range, got?: Values) => Float64Array {
  const { op, params, dtype, seed, output } = problem
  const prefix = `${op.id}|${paramText(params)}|${dtype}|${seed}|${output}|`
  const read = readerOf(problem, prefix)
  const cost = 1 + op.referenceCost(params, output)
  const worthKeeping = (count: number) => !op.severalAnswers && count * cost >= KEPT_WORK
  return ({ start, count }, got) => {
    const key = `${prefix}${start}+${count}`
    const hit = cache.get(key)
    if (hit) {
      cache.delete(key)
      cache.set(key, hit)
      return hit
    }
    const values = op.reference(params, read, start, count, output, got)
    if (values.length !== count) throw new Error(`reference of "${op.id}" gave ${values.length} elements for ${count}`)
    if (worthKeeping(count)) remember(key, values)
    return values
  }
}

/** Forgets all cached reference values. */
export function clearReferenceCache(): void {
  cache.clear()
  cachedBytes = 0
  lastReader = undefined
}
