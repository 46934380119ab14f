import { entry, header, numbers, step, storage, THREADS, widthFor } from '../../wgsl/header'
import { mapped, numbersOf } from '../../wgsl/mapped'
import { dimOf, type Kernel, type Program } from '../types'

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

/** A workgroup turns over one square of this side, in vectors of four both ways. */
const WIDE = 64
const VECTORS = WIDE / 4
const TALL = THREADS / VECTORS

/** Squares where rows and columns are whole vectors. A vector of the square is moved by its row, so that reads of a column meet different banks. */
const wideSquares = (dtype: 'f32' | 'f16') => {
  const type = storage(dtype, 4)
  const places = [0, 1, 2, 3]
  const element = (j: number) => `square[(4u * x_lane + ${j}u) * ${VECTORS}u + ((y / 4u) ^ x_lane)][y % 4u]`
  return `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16')}
var<workgroup> square: array<vec4<f32>, ${WIDE * VECTORS}>;
${entry(`  let rows = dim(0u);
  let columns = dim(1u);
  let row = group / dim(2u) * ${WIDE}u;
  let column = group % dim(2u) * ${WIDE}u;
  let x_lane = lane % ${VECTORS}u;
  let y_lane = lane / ${VECTORS}u;
${places.map((q) => `  { let y = y_lane + ${q * TALL}u; if (row + y < rows && column + 4u * x_lane < columns) { square[y * ${VECTORS}u + (x_lane ^ (y / 4u))] = vec4<f32>(x[((row + y) * columns + column) / 4u + x_lane]); } }`).join('\n')}
  workgroupBarrier();
${places.map((q) => `  { let y = y_lane + ${q * TALL}u; if (column + y < columns && row + 4u * x_lane < rows) { let turned = vec4<f32>(${places.map(element).join(', ')}); out[((column + y) * rows + row) / 4u + x_lane] = ${type}(turned); } }`).join('\n')}`)}`
}

/** Rows below which a workgroup has some columns whole: as many as its memory holds. */
const SOME_ROWS = 128

/** Columns that a workgroup has whole; undefined where rows are too many, or too few for as many columns as threads read beside each other. */
export const wholeColumns = (rows: number): number | undefined => (rows >= SOME_ROWS ? undefined : rows < SOME_ROWS / 2 ? 2 * SIDE : SIDE)

/** Some rows of no whole vectors: a workgroup has columns whole, which lie behind each other in the results, so that it writes no parts of sectors of memory but at its ends. */
function someRows(dtype: 'f32' | 'f16', rows: number, cols: number, wide: number): Program {
  const type = storage(dtype, 1)
  const high = THREADS / wide
  const pitch = rows | 1
  const held = rows * wide
  const at = (e: string) => (pitch === rows ? e : `(${e}) / ${rows}u * ${pitch}u + (${e}) % ${rows}u`)
  const reads = numbers(Math.ceil(rows / high))
  const writes = numbers(Math.ceil(held / THREADS))
  const wgsl = `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16')}
var<workgroup> columns: array<${type}, ${pitch * wide}>;
${entry(`  let first = group * ${wide}u;
  let column = first + lane % ${wide}u;
  let read = min(column, ${cols - 1}u);
  let row = lane / ${wide}u;
${reads.map((q) => `  let v_${q} = x[min(row + ${q * high}u, ${rows - 1}u) * ${cols}u + read];`).join('\n')}
${reads.map((q) => `  ${(q + 1) * high > rows ? `if (row + ${q * high}u < ${rows}u) ` : ''}{ columns[lane % ${wide}u * ${pitch}u + row + ${q * high}u] = v_${q}; }`).join('\n')}
  workgroupBarrier();
  let end = min(${held}u, (${cols}u - min(first, ${cols}u)) * ${rows}u);
${writes.map((q) => `  if (lane + ${q * THREADS}u < end) { out[first * ${rows}u + lane + ${q * THREADS}u] = columns[${at(`lane + ${q * THREADS}u`)}]; }`).join('\n')}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [rows, cols], Math.ceil(cols / wide))] }
}

/** Elements from which on a thread has several, all on their way together. */
const MANY = 2 ** 20

/** Few rows of f32: a thread writes elements of a column together, where they are whole vectors. dims: vectors in all, rows, columns. */
function fewRows(rows: number, cols: number): Program {
  const width = [4, 2].find((size) => rows % size === 0) ?? 1
  const count = (rows * cols) / width
  const numbers = numbersOf(count, true)
  const sides = Array.from({ length: width }, (_, j) => j)
  const type = width === 1 ? 'f32' : `vec${width}<f32>`
  const wgsl = `${header([{ name: 'x', type: 'f32' }, { name: 'out', type, write: true }], false)}
${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= ${numbers.threads}u) { return; }
${numbers.place}
${numbers.each((u) => `  let column_${u} = ${numbers.at(u)} / ${rows / width}u; let row_${u} = ${numbers.at(u)} % ${rows / width}u * ${width}u;
  let value_${u} = ${type}(${sides.map((j) => `x[(row_${u} + ${j}u) * dim(2u) + column_${u}]`).join(', ')});`)}
${numbers.each((u) => numbers.store(u, 'out', `value_${u}`))}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [count, rows, cols], Math.ceil(numbers.threads / THREADS))] }
}

/** Few columns of f32: a thread has a row, and neighbours write neighbours of each column. dims: rows. */
function fewColumns(rows: number, cols: number): Program {
  const width = widthFor(cols)
  const vectors = Array.from({ length: cols / width }, (_, v) => v)
  const sides = width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  const wgsl = `${header([{ name: 'x', type: storage('f32', width) }, { name: 'out', type: 'f32', write: true }], false)}
${entry(`  let row = group * ${THREADS}u + lane;
  if (row >= dim(0u)) { return; }
${vectors.map((v) => `  let x_${v} = x[row * ${vectors.length}u + ${v}u];`).join('\n')}
${vectors.flatMap((v) => sides.map((side, j) => `  out[${v * width + j}u * dim(0u) + row] = x_${v}${side};`)).join('\n')}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [rows], Math.ceil(rows / THREADS))] }
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
    if (Math.min(rows, cols) <= NARROW) {
      if (shape.dtype === 'f32' && rows * cols >= MANY) return rows <= NARROW ? fewRows(rows, cols) : fewColumns(rows, cols)
      const tensors = [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output' as const, write: true }]
      return mapped({ tensors, body: '  out[i] = x[i % dim(1u) * dim(2u) + i / dim(1u)];', dims: [rows, cols] }, shape.dtype, rows * cols)
    }
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    if (rows % 4 === 0 && cols % 4 === 0) {
      const [down, across] = [Math.ceil(rows / WIDE), Math.ceil(cols / WIDE)]
      return { scratchBytes: [], steps: [step(wideSquares(dtype), [{ input: 0 }, 'output'], [rows, cols, across], down * across)] }
    }
    const wide = rows * cols >= MANY ? wholeColumns(rows) : undefined
    if (wide !== undefined) return someRows(dtype, rows, cols, wide)
    const [down, across] = [Math.ceil(rows / SIDE), Math.ceil(cols / SIDE)]
    return { scratchBytes: [], steps: [step(squares(dtype), [{ input: 0 }, 'output'], [rows, cols, across], down * across)] }
  },
}
export default kernel
