import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import { evenly } from '../matmul/evenly'
import type { Program } from '../types'
import type { FewTermsShape } from './few-terms'

/** Filters of a plane, and rows of outputs from which on rows of x that a thread has read are worth keeping. */
const MOST_FILTERS = 4
const LEAST_ROWS = 3
/** Rows of outputs of a thread at most, multiply-adds that are written out, and workgroups that fill a device. */
const MOST_ROWS = 8
const MOST_WRITTEN = 400
const ENOUGH_GROUPS = 264

/** What is needed of a convolution, each of whose channels is a group. */
export interface OwnPlanesShape extends Pick<FewTermsShape, 'paddings'> {
  /** Filters of a group. */
  filters: number
  /** Planes of x of all images. */
  planes: number
  /** Outputs along depth, height and width, and taps of each. */
  outputs: readonly [number, number, number]
  kernel: readonly [number, number, number]
  stride: number
  dilation: number
}

/** Rows of outputs that a thread has, and how many times that an image has; undefined where other plans are faster. */
export function planOwnPlanes({ filters, planes, outputs: [d, h, w], kernel }: OwnPlanesShape): { rows: number; below: number } | undefined {
  const taps = kernel[1] * kernel[2]
  if (filters > MOST_FILTERS || h < LEAST_ROWS || taps < 2) return undefined
  const groups = (rows: number) => (planes * d * Math.ceil(h / rows) * w) / THREADS
  let most = Math.min(MOST_ROWS, Math.floor(MOST_WRITTEN / (taps * filters)))
  while (most > 1 && groups(most) < ENOUGH_GROUPS) most--
  if (most < 2) return undefined
  const { count, size } = evenly(h, most)
  return { rows: size, below: count }
}

/**
 * A convolution of each channel for itself: a thread has some rows of outputs of a column, for all of which it reads an element of x once, where it lies, and neighbours
 * have neighbouring columns. `extents` is WGSL of the op's dims as constants.
 */
export function ownPlanes(dtype: 'f32' | 'f16', { rows, below }: { rows: number; below: number }, extents: string, shape: OwnPlanesShape): Program {
  const type = storage(dtype, 1)
  const { filters, planes, outputs: [d, , w], kernel: [, tapsH, tapsW], stride, dilation, paddings } = shape
  const threads = planes * d * below * w
  const [own, taps, filtersOf] = [numbers(rows), numbers(tapsW), numbers(filters)]
  const inputRows = numbers((rows - 1) * stride + (tapsH - 1) * dilation + 1)
  /** Pairs of an output row and a tap that meet a row of x. */
  const meeting = (r: number) => own.flatMap((o) => numbers(tapsH).filter((t) => o * stride + t * dilation === r).map((t) => [o, t] as const))
  const isPadded = (axis: number) => paddings[axis]! > 0
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type }, { name: 'out', type, write: true }], dtype === 'f16')}
${extents}${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= ${threads}u) { return; }
  let column = i % w_output;
  let first_row = i / w_output % ${below}u * ${rows}u;
  let depth = i / (w_output * ${below}u) % d_output;
  let plane_at = i / (w_output * ${below}u * d_output);
  let channel = plane_at % channels;
  let h = first_row * stride - h_padding;
${taps.map((t) => `  let w_${t} = column * stride - w_padding + ${t * dilation}u;`).join('\n')}
${own.flatMap((o) => filtersOf.map((f) => `  var sum_${o}_${f} = 0.0;`)).join('\n')}
  for (var kd = 0u; kd < d_kernel; kd++) {
    let d = depth * stride + kd * dilation - d_padding;
${isPadded(0) ? '    if (d >= d_input) { continue; }\n' : ''}    let base = plane_at * plane + d * h_input * w_input;
    let of_depth = (channel * ${filters}u * d_kernel + kd) * ${tapsH * tapsW}u;
${filtersOf.flatMap((f) => numbers(tapsH * tapsW).map((t) => `    let k_${f}_${t} = f32(weight[of_depth + ${t}u + ${f}u * taps]);`)).join('\n')}
${inputRows.filter((r) => meeting(r).length > 0).map((r) => `    {
      let row = h + ${r}u;
      let has_row = row < h_input;
      let at = base + select(0u, row, has_row) * w_input;
${taps.map((t) => `      let x_${t} = select(0.0, f32(x[at + ${isPadded(2) ? `select(0u, w_${t}, w_${t} < w_input)` : `w_${t}`}]), has_row${isPadded(2) ? ` & (w_${t} < w_input)` : ''});`).join('\n')}
${meeting(r).flatMap(([o, t]) => filtersOf.map((f) => `      ${taps.map((tw) => `sum_${o}_${f} = fma(k_${f}_${t * tapsW + tw}, x_${tw}, sum_${o}_${f});`).join(' ')}`)).join('\n')}
    }`).join('\n')}
  }
  let to = ((plane_at * ${filters}u * d_output + depth) * h_output + first_row) * w_output + column;
${own.map((o) => `  if (first_row + ${o}u < h_output) { ${filtersOf.map((f) => `out[to + ${f}u * outputs + ${o}u * w_output] = ${type}(sum_${o}_${f});`).join(' ')} }`).join('\n')}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [], Math.ceil(threads / THREADS))] }
}
