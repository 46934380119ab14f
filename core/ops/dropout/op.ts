import { philox4x32 } from '../../values/random'
import { numberAt, shapeAt } from '../aten'
import { defineOp, arithmetic, elementsOf } from '../define'
import { vector } from '../forms'

/**
 * Dropout in training: out[i] is 0 with probability p, else x[i] / (1 - p). PyTorch: F.dropout(x, p, training=True).
 * dims: [n], scalars: [p], rounded to f32. Two operations per element, compare and multiply; the generator is not counted.
 *
 * Kernels of this program all make the same mask. The seed is that of the problem, or of the last refill (a uint32):
 *
 *   w    = philox4x32(counter = [j mod 2^32, floor(j / 2^32), 0, 0], key = [seed, 0]) with j = floor(i / 4)
 *   drop = f32(w[i mod 4] >>> 8) < f32(p) * 2^24                                          (both sides exact in f32)
 *
 * Libraries have generators of their own. So an output is verified by its values, each of which must be 0 or x / (1 - p),
 * and by how many are kept.
 */
export default defineOp<{ n: number; p: number }>({
  id: 'dropout',
  family: 'dropout',
  summary: 'Zeroes elements at random and scales the rest',
  torch: 'F.dropout(x, p, training=True)',
  aten: [{ names: ['native_dropout'], params: (call) => { const shape = shapeAt(call, 0); return shape && { n: elementsOf(shape), p: numberAt(call, 1, 0.5) } } }],
  size: vector,
  attributes: { p: { title: 'Probability of zero', kind: 'number', default: 0.5, min: 0, max: 0.99 } },
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ n }) => [
    { name: 'x', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [n], role: 'out' },
  ],
  dims: ({ n }) => [n],
  scalars: ({ p }) => [Math.fround(p)],
  flops: ({ n }) => 2 * n,
  referenceCost: () => 2,
  reference: ({ p }, read, start, count, _output, got) =>
    Float64Array.from(read(0, start, count), (x, i) => {
      const kept = x / (1 - Math.fround(p))
      return got && Math.abs(got[i]!) < Math.abs(got[i]! - kept) ? 0 : kept
    }),
  tolerance: (_p, dtype) => arithmetic(dtype),
  keepRate: ({ p }) => 1 - p,
})

/** Whether the kernels of this program zero element `i` of a tensor; see above. */
export function isDropped(seed: number, p: number, i: number): boolean {
  const block = Math.floor(i / 4)
  const word = philox4x32([block % 2 ** 32, Math.floor(block / 2 ** 32), 0, 0], [seed, 0])[i % 4]!
  return word >>> 8 < Math.fround(p) * 2 ** 24
}
