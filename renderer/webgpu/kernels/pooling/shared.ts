import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { EXCHANGE, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import type { KernelShape, Program } from '../types'
import { adaptiveWindowOf, adaptiveWindows } from './windows'

/** Elements of a window from which on threads share it, and threads beside each other and in all that do. */
const SHARED = 16
const MOST_WIDE = 32
const MOST_LANES = 64
/** Rows of a window that a thread reads together. */
const ROWS = 4

/** Adaptive windows of which several threads take one: neighbouring threads read neighbours. Undefined for small windows. */
export function sharedPooling(shape: KernelShape, [planes, height, width, outHeight, outWidth]: readonly [number, number, number, number, number], max: boolean): Program | undefined {
  const [tall, long] = [Math.ceil(height / outHeight), Math.ceil(width / outWidth)]
  if (tall * long < SHARED) return undefined
  const wide = Math.min(MOST_WIDE, powerOfTwoFrom(long))
  const high = Math.min(MOST_LANES / wide, powerOfTwoFrom(Math.ceil(tall / ROWS)))
  const lanes = wide * high
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const type = storage(dtype, 1)
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const join = (a: string, b: string) => (max ? `max(${a}, ${b})` : `${a} + ${b}`)
  const rows = Array.from({ length: ROWS }, (_, u) => u)
  const outputs = planes * outHeight * outWidth
  const wgsl = `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16', shape.subgroups !== undefined)}${EXCHANGE}
${reduction('all', lanes, join, shape.subgroups)}
${adaptiveWindows('h', height, outHeight)}${adaptiveWindows('w', width, outWidth)}${entry(`  let wanted = group * ${THREADS / lanes}u + lane / ${lanes}u;
  let i = min(wanted, dim(0u) - 1u);
${adaptiveWindowOf(outHeight, outWidth)}  var value = ${neutral};
  for (var c = left + lane % ${wide}u; c < right; c += ${wide}u) {
    for (var r = top + lane / ${wide}u % ${high}u; r < bottom; r += ${ROWS * high}u) {
${rows.map((u) => `      let v_${u} = f32(x[(plane * ${height}u + min(r + ${u * high}u, bottom - 1u)) * ${width}u + c]);`).join('\n')}
${rows.map((u) => `      value = ${u === 0 ? join('value', 'v_0') : join('value', `select(${neutral}, v_${u}, r + ${u * high}u < bottom)`)};`).join('\n')}
    }
  }
  let all = reduce_all(value, lane);
  if (lane % ${lanes}u == 0u && wanted < dim(0u)) { out[i] = ${type}(all${max ? '' : ' / f32((bottom - top) * (right - left))'}); }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [outputs], Math.ceil(outputs / (THREADS / lanes)))] }
}
