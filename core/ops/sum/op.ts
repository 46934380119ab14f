import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { choice, divisorUpTo, extent } from '../params'
import { accumulated } from '../tolerance'
import { defineOp } from '../types'

const AXES = ['all', 'last', 'first'] as const
type Axis = (typeof AXES)[number]
type SumParams = { rows: number; cols: number; axis: Axis }

/** The reduction as [outer, reduce, inner]: out[o * inner + i] adds x[(o * reduce + r) * inner + i] over r. */
function geometry({ rows, cols, axis }: SumParams): [outer: number, reduce: number, inner: number] {
  if (axis === 'all') return [1, rows * cols, 1]
  return axis === 'last' ? [rows, cols, 1] : [1, rows, cols]
}

/** Elements taken from an input at a time, so that a long sum stays in the processor's cache. */
const CHUNK = 16384

/**
 * Sum of x [rows, cols] over all elements, the last axis or the first. PyTorch: torch.sum(x), torch.sum(x, -1), torch.sum(x, 0).
 * dims: [outer, reduce, inner] with all -> [1, rows*cols, 1], last -> [rows, cols, 1], first -> [1, rows, cols];
 * outer*inner outputs. One add per input element; accumulated in f32.
 */
export default defineOp<SumParams>({
  id: 'sum',
  family: 'reduction',
  summary: 'Sum over all elements, the last or the first axis, torch.sum(x, dim)',
  sizeKind: 'matrix',
  params: z.object({ rows: extent(), cols: extent(), axis: choice(AXES) }),
  variants: { axis: AXES },
  dtypes: ['f32', 'f16', 'bf16'],
  shapeLabel: ({ rows, cols }) => `${rows}x${cols}`,
  inputs: ({ rows, cols }) => [{ name: 'x', shape: [rows, cols], fill: { kind: 'normal', scale: 1 } }],
  outputShape: ({ rows, cols, axis }) => (axis === 'all' ? [1] : axis === 'last' ? [rows] : [cols]),
  dims: geometry,
  bytes: (p, dtype) => {
    const [outer, reduce, inner] = geometry(p)
    return outer * (reduce + 1) * inner * DTYPE_BYTES[dtype]
  },
  flops: ({ rows, cols }) => rows * cols,
  // Neighbouring columns share their reads; 64 of them keep a sampled check cheap.
  granule: (p) => divisorUpTo(geometry(p)[2], 64),
  referenceCost: (p) => geometry(p)[1],
  reference: (p, read, start, count) => {
    const [, reduce, inner] = geometry(p)
    const out = new Float64Array(count)
    if (inner === 1) {
      for (let j = 0; j < count; j++) {
        let sum = 0
        for (let from = 0; from < reduce; from += CHUNK) {
          const part = read(0, (start + j) * reduce + from, Math.min(CHUNK, reduce - from))
          for (let i = 0; i < part.length; i++) sum += part[i]!
        }
        out[j] = sum
      }
      return out
    }
    for (let done = 0; done < count; ) {
      const outer = Math.floor((start + done) / inner)
      const column = (start + done) % inner
      const width = Math.min(count - done, inner - column)
      for (let r = 0; r < reduce; r++) {
        const part = read(0, (outer * reduce + r) * inner + column, width)
        for (let i = 0; i < width; i++) out[done + i]! += part[i]!
      }
      done += width
    }
    return out
  },
  tolerance: (p, dtype) => accumulated(dtype, geometry(p)[1]),
  // Standard deviation of a sum of independent unit normals.
  outputScale: (p) => Math.sqrt(geometry(p)[1]),
})
