import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import type { KernelShape, Program } from '../types'
import { adaptiveWindows, longestWindow } from './windows'

/** Elements of a window from which on a thread for each output would read scattered elements, and those from which on several threads for each read enough. */
const LEAST = 16
const MOST = 128
/** Columns of a window that a thread adds up by itself. */
const LONGEST = 64
/** f32 of workgroup memory, and columns of all rows that fill a device. */
const CELLS = 2048
const ENOUGH_COLUMNS = 2 ** 16
/** Rows of a window whose elements a thread reads together, all of them or so many at a time. */
const TOGETHER = 8
const AT_ONCE = 4

/** What a workgroup takes: `units`, each some outputs beside each other in a row. */
export interface ByRowsPlan {
  /** Outputs of a unit, columns of x that they have at most, and units of a row of outputs. */
  outputs: number
  span: number
  segments: number
  units: number
  groups: number
}

/** Plan for the windows of [planes, height, width] with [outHeight, outWidth] outputs of a plane; undefined for windows that are small, large, or few. */
export function planByRows([planes, height, width, outHeight, outWidth]: readonly [number, number, number, number, number]): ByRowsPlan | undefined {
  const [tall, long] = [height / outHeight, width / outWidth]
  if (Math.ceil(tall) * Math.ceil(long) < LEAST || tall * long >= MOST || long > LONGEST || planes * outHeight * width < ENOUGH_COLUMNS) return undefined
  const segments = Math.ceil(outWidth / Math.floor(((CELLS - 1) * outWidth) / width))
  const outputs = Math.ceil(outWidth / segments)
  const span = Math.min(width, Math.ceil((outputs * width) / outWidth) + 1)
  const all = planes * outHeight * segments
  // As many units as there is memory for, while there are enough workgroups.
  const units = Math.max(1, Math.min(Math.floor(CELLS / span), Math.floor((planes * outHeight * width) / ENOUGH_COLUMNS)))
  return { outputs, span, segments, units, groups: Math.ceil(all / units) }
}

/**
 * Adaptive windows of some dozen elements: neighbouring threads join the rows of neighbouring columns, and leave them in workgroup memory, of which
 * a thread for each output joins its columns.
 */
export function poolingByRows(shape: KernelShape, sizes: readonly [number, number, number, number, number], max: boolean): Program | undefined {
  const plan = planByRows(sizes)
  if (!plan) return undefined
  const [planes, height, width, outHeight, outWidth] = sizes
  const { outputs, span, segments, units, groups } = plan
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const type = storage(dtype, 1)
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const join = (a: string, b: string) => (max ? `max(${a}, ${b})` : `${a} + ${b}`)
  const tallest = longestWindow(height, outHeight)
  const rows = Array.from({ length: tallest <= TOGETHER ? tallest : AT_ONCE }, (_, u) => u)
  const loads = `${rows.map((u) => `        let v_${u} = f32(x[base + ${u === 0 ? 'r' : `min(r + ${u}u, bottom - 1u)`} * ${width}u]);`).join('\n')}
${rows.map((u) => `        value = ${u === 0 ? join('value', 'v_0') : join('value', `select(${neutral}, v_${u}, r + ${u}u < bottom)`)};`).join('\n')}`
  // Row and plane of a unit, the columns of its outputs.
  const unitOf = (number: string) => `let unit = group * ${units}u + ${number};
    let segment = unit % ${segments}u;
    let row = unit / ${segments}u % ${outHeight}u;
    let plane = unit / ${segments * outHeight}u;
    let first = segment * ${outputs}u;
    let begin = first_w(first);
    let top = first_h(row);
    let bottom = end_h(row);`
  const wgsl = `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16')}
${adaptiveWindows('h', height, outHeight)}${adaptiveWindows('w', width, outWidth)}var<workgroup> columns: array<f32, ${units * span}>;
${entry(`  for (var e = lane; e < ${units * span}u; e += ${THREADS}u) {
    ${unitOf(`e / ${span}u`)}
    let column = begin + e % ${span}u;
    if (unit < dim(0u) && column < ${width}u) {
      let base = plane * ${height * width}u + column;
      var value = ${neutral};
      ${tallest <= TOGETHER ? '{ let r = top;' : `for (var r = top; r < bottom; r += ${AT_ONCE}u) {`}
${loads}
      }
      columns[e] = value;
    }
  }
  workgroupBarrier();
  for (var e = lane; e < ${units * outputs}u; e += ${THREADS}u) {
    ${unitOf(`e / ${outputs}u`)}
    let o = first + e % ${outputs}u;
    if (unit < dim(0u) && o < ${outWidth}u) {
      let left = first_w(o);
      let right = end_w(o);
      let at = e / ${outputs}u * ${span}u - begin;
      var value = ${neutral};
      for (var c = left; c < right; c++) { value = ${join('value', 'columns[at + c]')}; }
      out[unit / ${segments}u * ${outWidth}u + o] = ${type}(value${max ? '' : ' / f32((bottom - top) * (right - left))'});
    }
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [planes * outHeight * segments], groups)] }
}
