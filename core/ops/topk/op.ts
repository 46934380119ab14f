import type { Values } from '../../values/numbers'
import { defineOp } from '../define'
import { matrix } from '../forms'
import { stableOrder } from '../stable-order'
import { exact } from '../tolerance'
import type { InputValues } from '../types'

/**
 * The k largest elements of each row of x [rows, cols], the largest first, equal ones by first index. Outputs values [rows, k] and
 * indices [rows, k], i32. PyTorch: torch.topk(x, k, -1), which leaves the order of equal values open: where a result is at hand,
 * any order of equal values is right, each index once. dims: [rows, cols, k]. One compare per element of x.
 */
export default defineOp<{ rows: number; cols: number; k: number }>({
  id: 'topk',
  family: 'order',
  summary: 'Largest elements of each row and their indices',
  torch: 'torch.topk(x, k, -1)',
  size: matrix,
  attributes: { k: { title: 'K', kind: 'number', default: 8, min: 1, max: 2 ** 20, whole: true } },
  refuse: ({ cols, k }) => (k <= cols ? undefined : `k (${k}) must not exceed cols (${cols})`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols, k }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'values', shape: [rows, k], role: 'out' },
    { name: 'indices', shape: [rows, k], storage: 'i32', role: 'out' },
  ],
  dims: ({ rows, cols, k }) => [rows, cols, k],
  flops: ({ rows, cols }) => rows * cols,
  granule: ({ k }) => k,
  referenceCost: ({ cols, k }) => (24 * cols + 6000) / k,
  reference: ({ cols, k }, read, start, count, output, got) => {
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += k) {
      const x = read(0, ((start + at) / k) * cols, cols)
      const order = stableOrder(x, true).subarray(0, k)
      for (let i = 0; i < k; i++) out[at + i] = output === 0 ? x[order[i]!]! : order[i]!
      if (output === 1 && got) out.set(withTies(x, order, got.subarray(at, at + k)), at)
    }
    return out
  },
  tolerance: () => exact,
})

/** The indices of `got` where they name an element equal to the right one and not named before; else those of `order`. */
function withTies(x: InputValues, order: Int32Array, got: Values): Int32Array {
  const used = new Set<number>()
  return order.map((right, i) => {
    const index = got[i]!
    const fits = x[index] === x[right] && !used.has(index)
    if (fits) used.add(index)
    return fits ? index : right
  })
}
