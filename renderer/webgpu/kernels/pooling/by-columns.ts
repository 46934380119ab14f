import { numbers } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import type { KernelShape, Program } from '../types'
import type { EvenWindows } from './wide'

/** Outputs below each other of a thread at most, and rows that it reads for them. */
const MOST_OUTPUTS = 12
const MOST_ROWS = 32
/** Elements that a thread reads at most: its text has each. */
const MOST_ELEMENTS = 192
/** Threads that fill a device: fewer outputs each rather than fewer of them. */
const ENOUGH_THREADS = 2 ** 16

/** Outputs below each other that a thread has, and threads of a plane's column. */
export interface ColumnPlan {
  outputs: number
  bands: number
}

/** Undefined where windows do not overlap, or a thread would read too much for two outputs. */
export function planColumns({ planes, outHeight, outWidth, kernel, stride, signal }: EvenWindows): ColumnPlan | undefined {
  if (signal || stride >= kernel) return undefined
  const rowsOf = (outputs: number) => (outputs - 1) * stride + kernel
  const wanted = Math.min(MOST_OUTPUTS, outHeight, Math.max(2, Math.floor((planes * outHeight * outWidth) / ENOUGH_THREADS)))
  for (let outputs = wanted; outputs >= 2; outputs--) {
    if (rowsOf(outputs) > MOST_ROWS || rowsOf(outputs) * kernel > MOST_ELEMENTS) continue
    const bands = Math.ceil(outHeight / outputs)
    return { outputs: Math.ceil(outHeight / bands), bands }
  }
  return undefined
}

/** Even windows that overlap: a thread joins what a window's columns have of each row, and of these those of some outputs below each other. */
export function poolingByColumns(shape: KernelShape, of: EvenWindows, max: boolean): Program | undefined {
  const plan = planColumns(of)
  if (!plan) return undefined
  const { planes, height, width, outHeight, outWidth, kernel, stride, padding } = of
  const { outputs, bands } = plan
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const joined = (values: readonly string[]) => (max ? values.reduce((all, one) => `max(${all}, ${one})`) : values.join(' + '))
  const rows = numbers((outputs - 1) * stride + kernel)
  const taps = numbers(kernel)
  const overlaps = bands * outputs > outHeight
  // Rows behind the plane that a last band would have are read again where no output that is written has them.
  const place = (r: number) => (padding === 0 && !overlaps ? `(top + ${r}u) * ${width}u` : `u32(clamp(top + ${r}, 0, ${height - 1})) * ${width}u`)
  const element = (r: number, c: number) => (padding === 0 ? `f32(x[row_${r} + ${c}u])` : `select(${neutral}, f32(x[row_${r} + column_${c}]), in_${c})`)
  const columns = padding === 0 ? '' : taps.map((c) => `  let at_${c} = left + ${c}; let in_${c} = at_${c} >= 0 && at_${c} < ${width}; let column_${c} = u32(clamp(at_${c}, 0, ${width - 1}));`).join('\n')
  const top = `i / ${outWidth}u % ${bands}u * ${outputs * stride}u`
  const left = `i % ${outWidth}u * ${stride}u`
  const across = (r: number) => (padding === 0 ? joined(taps.map((c) => element(r, c))) : `select(${neutral}, ${joined(taps.map((c) => element(r, c)))}, top + ${r} >= 0 && top + ${r} < ${height})`)
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output', write: true }],
    body: `  let plane = i / ${outWidth * bands}u;
  let first = i / ${outWidth}u % ${bands}u * ${outputs}u;
  let top = ${padding === 0 && !overlaps ? top : `i32(${top}) - ${padding}`};
  let left = ${padding === 0 ? left : `i32(${left}) - ${padding}`};
${columns}
  let base = plane * ${height * width}u${padding === 0 ? ' + left' : ''};
${rows.map((r) => `  let row_${r} = base + ${place(r)};`).join('\n')}
${rows.map((r) => `  let across_${r} = ${across(r)};`).join('\n')}
  let to = (plane * ${outHeight}u + first) * ${outWidth}u + i % ${outWidth}u;
${numbers(outputs).map((o) => `  ${overlaps && o > 0 ? `if (first + ${o}u < ${outHeight}u) ` : ''}{ out[to + ${o * outWidth}u] = own(${max ? '' : '('}${joined(taps.map((k) => `across_${o * stride + k}`))}${max ? '' : `) / ${kernel * kernel}.0`}); }`).join('\n')}`,
  }, shape.dtype, planes * bands * outWidth)
}
