import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'
import { columnsText } from './columns'
import type { FewTermsShape } from './few-terms'

/** Filters of a group whose sums a thread has at its positions. */
const MOST_FILTERS = 24
/** Terms from which on reading their weights ahead pays, for a vector of filters and for several; and those of a short sum. */
const LEAST_TERMS = { one: 4, several: 24 }
const SHORT_TERMS = 64
/** Positions of a thread, most first, for all of which it reads a weight once: the more of one vector of filters. */
const ACROSS = { one: [4, 2], several: [2] }
/** Threads beside each other, most first; the others of a workgroup share their sums. Fewer would read weights for too few positions. */
const WIDTHS = [256, 128, 64]
/** Workgroups that leave no multiprocessor idle. */
const ENOUGH_GROUPS = 200
/** Vectors of weights in workgroup memory, vectors of weights or shared sums in the 16 KiB that every adapter has, and elements of a thread that are on their way together. */
const MEMORY = 768
const MOST_MEMORY = 1024
const TOGETHER = 8
const CHANNELS = 4
/** Batches of channels between which taps change, so that what neighbouring taps meet is still in the first cache. */
const BATCHES = 2

export interface FewFiltersPlan {
  /** Threads beside each other, and positions of each, as far apart. */
  wide: number
  across: number
  /** Threads that share a sum, and whether each has some of its channels or of its taps. */
  shares: number
  by: 'channels' | 'taps'
  /** Channels whose weights are in workgroup memory at once, and vectors of these and of the sums that threads share. */
  chunk: number
  memory: number
  /** Channels of a thread that are on their way together. */
  together: number
  /** Workgroups of a group of channels. */
  workgroups: number
}

/** Vectors of weights of a term. */
const vectorsOf = (filters: number): number => Math.ceil(filters / 4)

/** How threads take `positions` of all images in each of `groups`; undefined where filters are more, terms fewer, or positions too few. */
export function planFewFilters(groups: number, filters: number, positions: number, channels: number, taps: number): FewFiltersPlan | undefined {
  const vectors = vectorsOf(filters)
  const most = Math.floor(MEMORY / (taps * vectors))
  const kind = vectors === 1 ? 'one' : 'several'
  if (filters > MOST_FILTERS || channels * taps < LEAST_TERMS[kind] || most < 1) return undefined
  const columns = ACROSS[kind]
  // Long sums are shared rather than weights read for fewer positions.
  const grids = channels * taps > SHORT_TERMS ? columns.flatMap((across) => WIDTHS.map((wide) => [across, wide] as const)) : WIDTHS.flatMap((wide) => columns.map((across) => [across, wide] as const))
  const plans = grids.map(([across, wide]): FewFiltersPlan => {
    const shares = THREADS / wide
    const by = channels >= shares * CHANNELS || channels >= taps ? 'channels' : 'taps'
    const apart = by === 'channels' ? shares : 1
    const together = Math.min(CHANNELS, TOGETHER / across, Math.ceil(channels / apart))
    const step = apart * together * BATCHES
    const chunk = Math.min(channels, most > step ? Math.floor(most / step) * step : most)
    return { wide, across, shares, by, chunk, memory: vectors * Math.max(chunk * taps, shares > 1 ? THREADS : 0), together, workgroups: Math.ceil(positions / (wide * across)) }
  })
  return plans.find(({ workgroups, memory }) => memory <= MOST_MEMORY && groups * workgroups >= ENOUGH_GROUPS)
}

/**
 * A convolution of few filters without tiles: a thread has all filters of a group at some positions, or a share of their sums, and reads each element of x once for
 * all of them, where it lies. Weights are in workgroup memory, those of some channels at a time. `extents` is WGSL of the op's dims as constants.
 */
export function fewFilters(dtype: 'f32' | 'f16', plan: FewFiltersPlan, filters: number, extents: string, { groups, paddings }: Pick<FewTermsShape, 'groups' | 'paddings'>): Program {
  const type = storage(dtype, 1)
  const { wide, across, shares, by, chunk, memory, workgroups } = plan
  const [vectors, columns, together, own] = [numbers(vectorsOf(filters)), numbers(across), numbers(plan.together), numbers(filters)]
  const apart = by === 'channels' ? shares : 1
  const batches = BATCHES * plan.together * apart
  const text = columnsText(across, wide, paddings)
  const each = (line: (v: number, c: number) => string, separator = '\n') => columns.flatMap((c) => vectors.map((v) => line(v, c))).join(separator)
  const written = (v: number, c: number, sum: (i: number) => string) => own.slice(4 * v, 4 * v + 4).map((f, i) => `out[to_${c} + ${f}u * outputs] = ${type}(${sum(i)});`).join(' ')
  const isLive = (c: number) => `first_column + ${c * wide}u < batch * outputs`
  const results = (c: number) => (shares === 1 ? `  if (${isLive(c)}) { ${vectors.map((v) => written(v, c, (i) => `sum_${v}_${c}[${i}]`)).join(' ')} }`
    : `  workgroupBarrier();
${vectors.map((v) => `  memory[lane + ${v * THREADS}u] = sum_${v}_${c};`).join('\n')}
  workgroupBarrier();
  if (${isLive(c)}) {
${vectors.map((v) => `    if (share == ${v % shares}u) {
      var sum = memory[lane % ${wide}u + ${v * THREADS}u];
      for (var s = 1u; s < ${shares}u; s++) { sum += memory[lane % ${wide}u + s * ${wide}u + ${v * THREADS}u]; }
      ${written(v, c, (i) => `sum[${i}]`)}
    }`).join('\n')}
  }`)
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type }, { name: 'out', type, write: true }], dtype === 'f16')}
${extents}const of_group = filters / groups;
const terms = per_group * taps;
var<workgroup> memory: array<vec4<f32>, ${memory}>;
${entry(`  let first_column = group % ${workgroups}u * ${wide * across}u + lane % ${wide}u;
  let product = group / ${workgroups}u;
  if (product >= groups) { return; }
  let share = lane / ${wide}u;
${text.origins}
${each((v, c) => `  var sum_${v}_${c} = vec4<f32>(0.0);`)}
  for (var first_channel = 0u; first_channel < per_group; first_channel += ${chunk}u) {
    let here = min(per_group - first_channel, ${chunk}u);
    let count = here * taps;
    if (first_channel > 0u) { workgroupBarrier(); }
    // Neighbours bring terms of four filters.
    for (var i = lane; i < ${4 * vectors.length}u * count; i += ${THREADS}u) {
      let vector = i / (4u * count);
      let term = i / 4u % count;
      memory[term * ${vectors.length}u + vector][i % 4u] = f32(weight[(product * of_group + min(4u * vector + i % 4u, of_group - 1u)) * terms + first_channel * taps + term]);
    }
    workgroupBarrier();
    for (var block = ${by === 'channels' ? 'share' : '0u'}; block < here; block += ${batches}u) {
    let behind = min(here, block + ${batches}u);
    for (var t = ${by === 'taps' ? 'share' : '0u'}; t < taps; t += ${by === 'taps' ? shares : 1}u) {
${text.tap}
    for (var channel = block; channel < behind; channel += ${together.length * apart}u) {
${together.map((u) => `      let channel_${u} = ${u === 0 ? 'channel' : `min(channel + ${u * apart}u, here - 1u)`}; let plane_${u} = (first_channel + channel_${u}) * plane;${u === 0 ? '' : ` let has_${u} = channel + ${u * apart}u < here;`} ${columns.map((c) => `let x_${u}_${c} = ${u === 0 ? '' : 'select(0.0, '}${text.met(c, `plane_${u}`)}${u === 0 ? '' : `, has_${u})`};`).join(' ')}`).join('\n')}
${together.map((u) => `      { let at = (channel_${u} * taps + t) * ${vectors.length}u; ${vectors.map((v) => `let weights_${v} = memory[at + ${v}u];`).join(' ')} ${each((v, c) => `sum_${v}_${c} = fma(vec4<f32>(x_${u}_${c}), weights_${v}, sum_${v}_${c});`, ' ')} }`).join('\n')}
    }
    }
    }
  }
${columns.map((c) => `  let to_${c} = (column_${c} / outputs * filters + product * of_group) * outputs + column_${c} % outputs;`).join('\n')}
${columns.map(results).join('\n')}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [], workgroups * groups)] }
}
