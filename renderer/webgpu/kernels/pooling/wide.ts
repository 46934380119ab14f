import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import type { KernelShape, Program } from '../types'

/** Inputs beside each other that four outputs read at most. */
const MOST_INPUTS = 20

/** Even windows: planes of height and width, outputs, kernel, stride and padding, of which a signal has those along its width alone. */
export interface EvenWindows {
  planes: number
  height: number
  width: number
  outHeight: number
  outWidth: number
  kernel: number
  stride: number
  padding: number
  signal: boolean
}

/** First vector that the outputs 0 to 3 of a row read, and how many; element 0 of a window lies `skipped` into the first. */
function vectorsOf({ kernel, stride, padding }: EvenWindows): { from: number; count: number; skipped: number } {
  const from = Math.floor(-padding / 4)
  const skipped = -padding - 4 * from
  return { from, count: Math.ceil((skipped + 3 * stride + kernel) / 4), skipped }
}

/** Outputs of a row that are no whole vectors from which on four of a thread leave few threads with fewer. */
const MANY_OUTPUTS = 13

/**
 * Four outputs a thread, which reads its inputs as whole vectors. Undefined where rows are no whole vectors, or windows too long. Outputs whose rows are no
 * whole vectors are written through workgroup memory: those of neighbouring threads lie side by side, also where one row ends.
 */
export function widePooling(shape: KernelShape, of: EvenWindows, max: boolean): Program | undefined {
  const { planes, height, width, outHeight, outWidth, kernel, stride, padding, signal } = of
  const whole = outWidth % 4 === 0
  if (width % 4 !== 0 || 3 * stride + kernel > MOST_INPUTS || !(whole || (shape.dtype === 'f32' && outWidth >= MANY_OUTPUTS))) return undefined
  const { from, count, skipped } = vectorsOf(of)
  const [vectors, outVectors] = [width / 4, Math.ceil(outWidth / 4)]
  const threads = planes * outHeight * outVectors
  const rows = Array.from({ length: signal ? 1 : kernel }, (_, r) => r)
  const loaded = Array.from({ length: count }, (_, v) => v)
  const taps = Array.from({ length: kernel }, (_, c) => c)
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const element = (r: number, at: number) => `v_${r}_${Math.floor(at / 4)}.${'xyzw'[at % 4]}`
  const window = (r: number, tap: number) => `vec4<f32>(${[0, 1, 2, 3].map((o) => element(r, skipped + o * stride + tap)).join(', ')})`
  const join = (r: number, tap: number) => (r === 0 && tap === 0 ? `  var value = ${window(r, tap)};` : `  value = ${max ? `max(value, ${window(r, tap)})` : `value + ${window(r, tap)}`};`)
  const body = `  let first = i32(i % ${outVectors}u * ${stride}u) ${from < 0 ? '-' : '+'} ${Math.abs(from)};
  let top = ${signal ? '0' : `i32(i / ${outVectors}u % ${outHeight}u * ${stride}u) - ${padding}`};
  let plane = i / ${outVectors * outHeight}u;
${rows.map((r) => `  let base_${r} = (plane * ${height}u + u32(clamp(top + ${r}, 0, ${height - 1}))) * ${vectors}u; let in_${r} = top + ${r} >= 0 && top + ${r} < ${height};`).join('\n')}
${rows.map((r) => loaded.map((v) => `  let v_${r}_${v} = select(vec4<f32>(${neutral}), vec4<f32>(x[base_${r} + u32(clamp(first + ${v}, 0, ${vectors - 1}))]), in_${r} && first + ${v} >= 0 && first + ${v} < ${vectors});`).join('\n')).join('\n')}
${rows.map((r) => taps.map((tap) => join(r, tap)).join('\n')).join('\n')}
${max ? '' : `  value = value / ${kernel ** (signal ? 1 : 2)}.0;`}`
  if (whole) return mapped({ tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'out', at: 'output', type: 'own4', write: true }], body: `${body}\n  out[i] = own4(value);` }, shape.dtype, threads)
  const wgsl = `${header([{ name: 'x', type: storage('f32', 4) }, { name: 'out', type: storage('f32', 1), write: true }], false)}
var<workgroup> values: array<f32, ${4 * THREADS}>;
fn place(i: u32) -> u32 { return i / ${outVectors}u * ${outWidth}u + i % ${outVectors}u * 4u; }
${entry(`  let begin = min(group * ${THREADS}u, dim(0u) - 1u);
  let i = min(begin + lane, dim(0u) - 1u);
  let to = place(i) - place(begin);
${body}
  let beside = select(0u, min(${outWidth}u - i % ${outVectors}u * 4u, 4u), begin + lane < dim(0u));
${[0, 1, 2, 3].map((j) => `  if (${j}u < beside) { values[to + ${j}u] = value[${j}]; }`).join('\n')}
  workgroupBarrier();
  let count = place(min(begin + ${THREADS}u, dim(0u))) - place(begin);
${[0, 1, 2, 3].map((j) => `  if (lane + ${j * THREADS}u < count) { out[place(begin) + lane + ${j * THREADS}u] = values[lane + ${j * THREADS}u]; }`).join('\n')}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [threads], Math.ceil(threads / THREADS))] }
}
