import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { EXCHANGE, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import type { KernelShape, Program } from '../types'
import type { EvenWindows } from './wide'
import { adaptiveWindowOf, adaptiveWindows } from './windows'

type Sizes = readonly [planes: number, height: number, width: number, outHeight: number, outWidth: number]

/** Elements of a window from which on threads share it, and threads beside each other and in all that do. */
const SHARED = 16
const MOST_WIDE = 32
const MOST_LANES = 64
/** Outputs of even windows up to which threads for each would leave much of a device idle. */
const MOST_SHARED = 2 ** 16
/** Rows of a window that a thread reads together. */
const ROWS = 4

/** Adaptive windows of which several threads take one: neighbouring threads read neighbours. Undefined for small windows. */
export function sharedPooling(shape: KernelShape, sizes: Sizes, max: boolean): Program | undefined {
  const [, height, width, outHeight, outWidth] = sizes
  const [tall, long] = [Math.ceil(height / outHeight), Math.ceil(width / outWidth)]
  if (tall * long < SHARED) return undefined
  return shared(shape, sizes, [tall, long], max, `${adaptiveWindows('h', height, outHeight)}${adaptiveWindows('w', width, outWidth)}`, 'f32((bottom - top) * (right - left))')
}

/** Even windows of planes, of which several threads take one. Undefined where threads for each output fill a device. */
export function sharedEven(shape: KernelShape, { planes, height, width, outHeight, outWidth, kernel, stride, padding }: EvenWindows, max: boolean): Program | undefined {
  if (planes * outHeight * outWidth > MOST_SHARED) return undefined
  const ends = ([['h', height], ['w', width]] as const).map(([axis, size]) => `fn first_${axis}(o: u32) -> u32 { return u32(max(i32(o * ${stride}u) - ${padding}, 0)); }
fn end_${axis}(o: u32) -> u32 { return u32(min(i32(o * ${stride}u + ${kernel}u) - ${padding}, ${size})); }
`).join('')
  return shared(shape, [planes, height, width, outHeight, outWidth], [kernel, kernel], max, ends, `${kernel * kernel}.0`)
}

/** `ends` is WGSL of where windows begin and end, `tall` and `long` at most, and `counted` of the elements that a mean divides by. */
function shared(shape: KernelShape, [planes, height, width, outHeight, outWidth]: Sizes, [tall, long]: readonly [number, number], max: boolean, ends: string, counted: string): Program {
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
${ends}${entry(`  let wanted = group * ${THREADS / lanes}u + lane / ${lanes}u;
  let i = min(wanted, dim(0u) - 1u);
${adaptiveWindowOf(outHeight, outWidth)}  var value = ${neutral};
  for (var c = left + lane % ${wide}u; c < right; c += ${wide}u) {
    for (var r = top + lane / ${wide}u % ${high}u; r < bottom; r += ${ROWS * high}u) {
${rows.map((u) => `      let v_${u} = f32(x[(plane * ${height}u + min(r + ${u * high}u, bottom - 1u)) * ${width}u + c]);`).join('\n')}
${rows.map((u) => `      value = ${u === 0 ? join('value', 'v_0') : join('value', `select(${neutral}, v_${u}, r + ${u * high}u < bottom)`)};`).join('\n')}
    }
  }
  let all = reduce_all(value, lane);
  if (lane % ${lanes}u == 0u && wanted < dim(0u)) { out[i] = ${type}(all${max ? '' : ` / ${counted}`}); }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [outputs], Math.ceil(outputs / (THREADS / lanes)))] }
}
