import { widthFor, type Width } from '../../wgsl/header'
import { dimOf, type Kernel, type Program } from '../types'
import { columnGroups, sumAcross } from './across'
import { sumAlong } from './along'

type Float = 'f32' | 'f16'

/** Workgroups that fill any device known here several times over; more pieces would only lengthen the second step. */
const ENOUGH_GROUPS = 4096
/** Shortest piece worth a workgroup of its own, in vectors and in rows. */
const SHORTEST_RUN = 1024
const SHORTEST_COLUMN = 32

const parts = (length: number, shortest: number, others: number) => Math.max(1, Math.min(Math.ceil(length / shortest), Math.floor(ENOUGH_GROUPS / others)))

/** Rows of neighbouring elements. A single row may end in the padding of its tensor, which is zero (tensors.ts). */
function rowSums(rows: number, length: number, type: Float): Program {
  const width: Width = rows === 1 ? 4 : widthFor(length)
  const vectors = Math.ceil(length / width)
  const pieces = parts(vectors, SHORTEST_RUN, rows)
  const runs = { rows, vectors, width, parts: pieces }
  if (pieces === 1) return { scratchBytes: [], steps: [sumAlong(runs, { from: type, to: type }, { input: 0 }, 'output')] }
  return {
    scratchBytes: [rows * pieces * 4],
    steps: [
      sumAlong(runs, { from: type, to: 'f32' }, { input: 0 }, { scratch: 0 }),
      sumAlong({ rows, vectors: pieces, width: 1, parts: 1 }, { from: 'f32', to: type }, { scratch: 0 }, 'output'),
    ],
  }
}

function columnSums(outer: number, reduce: number, inner: number, type: Float): Program {
  const width = widthFor(inner)
  const vectors = inner / width
  const pieces = parts(reduce, SHORTEST_COLUMN, outer * columnGroups(vectors))
  const columns = { outer, reduce, vectors, width, parts: pieces }
  if (pieces === 1) return { scratchBytes: [], steps: [sumAcross(columns, { from: type, to: type }, { input: 0 }, 'output')] }
  return {
    scratchBytes: [outer * pieces * inner * 4],
    steps: [
      sumAcross(columns, { from: type, to: 'f32' }, { input: 0 }, { scratch: 0 }),
      sumAcross({ outer, reduce: pieces, vectors, width, parts: 1 }, { from: 'f32', to: type }, { scratch: 0 }, 'output'),
    ],
  }
}

/** Two steps where one would leave most of the device idle: pieces first, then the sums of the pieces. */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [outer, reduce, inner] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const type: Float = shape.dtype === 'f16' ? 'f16' : 'f32'
    return inner === 1 ? rowSums(outer, reduce, type) : columnSums(outer, reduce, inner, type)
  },
}
export default kernel
