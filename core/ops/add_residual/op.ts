import { arithmetic, defineOp } from '../define'
import { matrix } from '../forms'

/**
 * A bias and a residual at once, for the parts of a composite op (composite-plan.ts): out[i, j] = a[i, j] + b[j] + c[i, j].
 * PyTorch: a + b + c. Inputs: a [rows, cols], b [cols], c [rows, cols]; output [rows, cols]. dims: [rows * cols, cols].
 */
export default defineOp<{ rows: number; cols: number }>({
  id: 'add_residual',
  family: 'part',
  summary: 'Sum of a tensor, a row and a tensor',
  torch: 'a + b + c',
  size: matrix,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    ...(['a', 'b', 'c'] as const).map((name) => ({ name, shape: name === 'b' ? [cols] : [rows, cols], role: 'in' as const, fill: { kind: 'normal', scale: 1 } as const })),
    { name: 'out', shape: [rows, cols], role: 'out' },
  ],
  dims: ({ rows, cols }) => [rows * cols, cols],
  flops: ({ rows, cols }) => 2 * rows * cols,
  referenceCost: () => 2,
  reference: ({ cols }, read, start, count) => {
    const [a, b, c] = [read(0, start, count), read(1, 0, cols), read(2, start, count)]
    return Float64Array.from({ length: count }, (_, i) => a[i]! + b[(start + i) % cols]! + c[i]!)
  },
  // Two roundings, of which the first is of a sum that may cancel.
  tolerance: (_p, dtype) => arithmetic(dtype, 1e-6),
})
