import { defineOp, accumulated } from '../define'
import { matrix } from '../forms'
import { granuleOf, lengthOf, sums, type Reduction } from '../reduction/table'

type SumToShapeParams = { rows: number; cols: number; broadcast: 'row' | 'column' | 'scalar' }

function reductionOf({ rows, cols, broadcast }: SumToShapeParams): Reduction {
  if (broadcast === 'scalar') return { outer: 1, reduce: rows * cols, inner: 1, groups: 1 }
  return broadcast === 'row' ? { outer: 1, reduce: rows, inner: cols, groups: 1 } : { outer: rows, reduce: cols, inner: 1, groups: 1 }
}

/**
 * Gradient of a broadcast: grad [rows, cols] added up to the shape that was broadcast to it, one row [1, cols], one column
 * [rows, 1] or one element [1, 1]. PyTorch: grad.sum_to_size(shape). dims: [outer, reduce, inner] as in
 * reduction/geometry.ts: row -> [1, rows, cols], column -> [rows, cols, 1], scalar -> [1, rows*cols, 1].
 * One add per input element; accumulated in f32.
 */
export default defineOp<SumToShapeParams>({
  id: 'sum_to_shape',
  family: 'backward',
  summary: 'Gradient of a broadcast: a sum over the axes that were repeated',
  torch: 'grad.sum_to_size(shape)',
  size: matrix,
  attributes: { broadcast: { title: 'Broadcast', kind: 'choice', words: ['row', 'column', 'scalar'] } },
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols, broadcast }) => [
    { name: 'grad', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: broadcast === 'row' ? [1, cols] : broadcast === 'column' ? [rows, 1] : [1, 1], role: 'out' },
  ],
  dims: (p) => {
    const { outer, reduce, inner } = reductionOf(p)
    return [outer, reduce, inner]
  },
  flops: ({ rows, cols }) => rows * cols,
  granule: (p) => granuleOf(reductionOf(p)),
  referenceCost: (p) => lengthOf(reductionOf(p)),
  reference: (p, read, start, count) => sums(reductionOf(p), read, start, count),
  tolerance: (p, dtype) => accumulated(dtype, lengthOf(reductionOf(p))),
  // Standard deviation of a sum of independent unit normals.
  outputScale: (p) => Math.sqrt(lengthOf(reductionOf(p))),
})
