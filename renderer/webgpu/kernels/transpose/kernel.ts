import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { dimOf, type Kernel } from '../types'

/** A workgroup turns over one square of this side; one more column keeps reads of a column in different banks. */
const SIDE = 32
const ROWS = THREADS / SIDE

/** Up to this many rows or columns squares would stand empty: then each thread moves one element. */
const NARROW = 16

const squares = (dtype: 'f32' | 'f16') => {
  const type = storage(dtype, 1)
  return `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16')}
var<workgroup> square: array<${type}, ${SIDE * (SIDE + 1)}>;
${entry(`  let rows = dim(0u);
  let columns = dim(1u);
  let row = group / dim(2u) * ${SIDE}u;
  let column = group % dim(2u) * ${SIDE}u;
  let x_lane = lane % ${SIDE}u;
  let y_lane = lane / ${SIDE}u;
  for (var y = y_lane; y < ${SIDE}u; y += ${ROWS}u) {
    if (row + y < rows && column + x_lane < columns) { square[y * ${SIDE + 1}u + x_lane] = x[(row + y) * columns + column + x_lane]; }
  }
  workgroupBarrier();
  for (var y = y_lane; y < ${SIDE}u; y += ${ROWS}u) {
    if (column + y < columns && row + x_lane < rows) { out[(column + y) * rows + row + x_lane] = square[x_lane * ${SIDE + 1}u + y]; }
  }`)}`
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
    if (Math.min(rows, cols) <= NARROW) {
      const tensors = [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output' as const, write: true }]
      return mapped({ tensors, body: '  out[i] = x[i % dim(1u) * dim(2u) + i / dim(1u)];', dims: [rows, cols] }, shape.dtype, rows * cols)
    }
    const [down, across] = [Math.ceil(rows / SIDE), Math.ceil(cols / SIDE)]
    return { scratchBytes: [], steps: [step(squares(shape.dtype === 'f16' ? 'f16' : 'f32'), [{ input: 0 }, 'output'], [rows, cols, across], down * across)] }
  },
}
export default kernel
