import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import { evenly } from '../matmul/evenly'
import type { KernelShape, Program } from '../types'
import type { EvenWindows } from './wide'

/** Columns of a plane and of its outputs up to which neighbouring threads would read elements of many rows. */
const WIDEST = 8
const MOST_COLUMNS = 8
/** Rows that give several threads work, and outputs below which columns of a thread take as long. */
const LEAST_ROWS = 64
const LEAST_OUTPUTS = 2 ** 18
/** f32 of workgroup memory. */
const CELLS = 3072

/** Rows of outputs of a workgroup, and workgroups of a plane. */
export interface NarrowPlan {
  rows: number
  bands: number
}

/** Undefined where windows do not overlap, or planes are wide, low or few. */
export function planNarrow({ planes, width, outHeight, outWidth, kernel, stride, signal }: EvenWindows): NarrowPlan | undefined {
  if (signal || stride >= kernel || width > WIDEST || outWidth > MOST_COLUMNS || outHeight < LEAST_ROWS || planes * outHeight * outWidth < LEAST_OUTPUTS) return undefined
  const most = Math.floor((Math.floor(CELLS / (width + outWidth)) - kernel) / stride) + 1
  if (most < LEAST_ROWS / 2) return undefined
  const { count: bands, size: rows } = evenly(outHeight, most)
  return { rows, bands }
}

/** Even windows of narrow planes that overlap: a workgroup has some rows of a plane in its memory, joins what each window's columns have of a row, and then the rows of each. */
export function poolingNarrow(shape: KernelShape, of: EvenWindows, max: boolean): Program | undefined {
  const plan = planNarrow(of)
  if (!plan) return undefined
  const { planes, height, width, outHeight, outWidth, kernel, stride, padding } = of
  const { rows, bands } = plan
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const type = storage(dtype, 1)
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const joined = (values: readonly string[]) => (max ? values.reduce((all, one) => `max(${all}, ${one})`) : values.join(' + '))
  const taps = numbers(kernel)
  const read = (rows - 1) * stride + kernel
  const rounds = numbers(Math.ceil((read * width) / THREADS))
  const column = (t: number) => (padding === 0 ? `elements[at + ${t}u]` : `select(${neutral}, elements[at + u32(clamp(left + ${t}, 0, ${width - 1}))], left + ${t} >= 0 && left + ${t} < ${width})`)
  const wgsl = `${header([{ name: 'x', type }, { name: 'out', type, write: true }], dtype === 'f16')}
var<workgroup> elements: array<f32, ${read * width}>;
var<workgroup> across: array<f32, ${read * outWidth}>;
${entry(`  let plane = group / ${bands}u;
  if (plane >= ${planes}u) { return; }
  let first = group % ${bands}u * ${rows}u;
  let top = i32(first * ${stride}u) - ${padding};
${rounds.map((u) => `  let e_${u} = lane + ${u * THREADS}u; let row_${u} = top + i32(e_${u} / ${width}u); let v_${u} = f32(x[plane * ${height * width}u + u32(clamp(row_${u}, 0, ${height - 1})) * ${width}u + e_${u} % ${width}u]);`).join('\n')}
${rounds.map((u) => `  ${(u + 1) * THREADS <= read * width ? '' : `if (e_${u} < ${read * width}u) `}{ elements[e_${u}] = select(${neutral}, v_${u}, row_${u} >= 0 && row_${u} < ${height}); }`).join('\n')}
  workgroupBarrier();
  for (var i = lane; i < ${read * outWidth}u; i += ${THREADS}u) {
${padding === 0 ? `    let at = i / ${outWidth}u * ${width}u + i % ${outWidth}u * ${stride}u;` : `    let at = i / ${outWidth}u * ${width}u;\n    let left = i32(i % ${outWidth}u * ${stride}u) - ${padding};`}
    across[i] = ${joined(taps.map(column))};
  }
  workgroupBarrier();
  let count = min(${rows}u, ${outHeight}u - first) * ${outWidth}u;
  for (var i = lane; i < count; i += ${THREADS}u) {
    let at = i / ${outWidth}u * ${stride * outWidth}u + i % ${outWidth}u;
    out[(plane * ${outHeight}u + first) * ${outWidth}u + i] = ${type}(${max ? '' : '('}${joined(taps.map((t) => `across[at + ${t * outWidth}u]`))}${max ? '' : `) / ${kernel * kernel}.0`});
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [], planes * bands)] }
}
