import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'
import { columnsText } from './columns'
import type { FewTermsShape } from './few-terms'

/** Filters of a group whose sums a thread has at its position, and terms from which on reading their weights ahead pays. */
const MOST_FILTERS = 15
const LEAST_TERMS = 33
/** Positions beside each other, most first, of which neighbours read whole sectors; the other threads of a workgroup share their sums. */
const POSITIONS = [256, 128, 64, 32, 16, 8]
/** Workgroups that leave little of any device known here idle, and those below which too few positions share the reading of weights. */
const ENOUGH_GROUPS = 264
const FEWEST_GROUPS = 132
/** Vectors of weights in workgroup memory, and channels of a thread that are on their way together. */
const MEMORY = 768
const TOGETHER = 4
/** Batches of channels between which taps change, so that what neighbouring taps meet is still in the first cache. */
const BATCHES = 2

export interface FewFiltersPlan {
  positions: number
  /** Threads that share a sum, and whether each has some of its channels or of its taps. */
  shares: number
  by: 'channels' | 'taps'
  /** Channels whose weights are in workgroup memory at once, and vectors of these and of the sums that threads share. */
  chunk: number
  memory: number
  /** Workgroups of a group of channels. */
  workgroups: number
}

/** Vectors of weights of a term. */
const vectorsOf = (filters: number): number => Math.ceil(filters / 4)

/** How threads take `positions` of all images in each of `groups`; undefined where filters are more, terms fewer, or positions too few. */
export function planFewFilters(groups: number, filters: number, positions: number, channels: number, taps: number): FewFiltersPlan | undefined {
  const most = Math.floor(MEMORY / (taps * vectorsOf(filters)))
  if (filters > MOST_FILTERS || channels * taps < LEAST_TERMS || most < 1) return undefined
  const plans = POSITIONS.map((wide): FewFiltersPlan => {
    const shares = THREADS / wide
    const by = channels >= shares * TOGETHER || channels >= taps ? 'channels' : 'taps'
    const step = by === 'channels' ? shares * TOGETHER * BATCHES : 1
    const chunk = Math.min(channels, most > step ? Math.floor(most / step) * step : most)
    return { positions: wide, shares, by, chunk, memory: vectorsOf(filters) * Math.max(chunk * taps, shares > 1 ? THREADS : 0), workgroups: Math.ceil(positions / wide) }
  })
  return plans.find(({ workgroups }) => groups * workgroups >= ENOUGH_GROUPS) ?? plans.findLast(({ workgroups }) => groups * workgroups >= FEWEST_GROUPS)
}

/**
 * A convolution of few filters without tiles: a thread has all filters of a group at one position, or a share of their sums, and reads each element of x once for
 * all of them, where it lies. Weights are in workgroup memory, those of some channels at a time. `extents` is WGSL of the op's dims as constants.
 */
export function fewFilters(dtype: 'f32' | 'f16', plan: FewFiltersPlan, filters: number, extents: string, { groups, paddings }: Pick<FewTermsShape, 'groups' | 'paddings'>): Program {
  const type = storage(dtype, 1)
  const { positions, shares, by, chunk, memory, workgroups } = plan
  const list = (count: number) => Array.from({ length: count }, (_, i) => i)
  const [vectors, together, own] = [list(vectorsOf(filters)), list(Math.min(TOGETHER, Math.ceil(chunk / (by === 'channels' ? shares : 1)))), list(filters)]
  const apart = by === 'channels' ? shares : 1
  const columns = columnsText(1, 0, paddings)
  const written = (v: number, sum: (i: number) => string) => own.slice(4 * v, 4 * v + 4).map((f, i) => `out[to + ${f}u * outputs] = ${type}(${sum(i)});`).join(' ')
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type }, { name: 'out', type, write: true }], dtype === 'f16')}
${extents}const of_group = filters / groups;
const terms = per_group * taps;
var<workgroup> memory: array<vec4<f32>, ${memory}>;
${entry(`  let first_column = group % ${workgroups}u * ${positions}u + lane % ${positions}u;
  let product = group / ${workgroups}u;
  if (product >= groups) { return; }
  let share = lane / ${positions}u;
${columns.origins}
${vectors.map((v) => `  var sum_${v} = vec4<f32>(0.0);`).join('\n')}
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
    for (var block = ${by === 'channels' ? 'share' : '0u'}; block < here; block += ${BATCHES * TOGETHER * apart}u) {
    let behind = min(here, block + ${BATCHES * TOGETHER * apart}u);
    for (var t = ${by === 'taps' ? 'share' : '0u'}; t < taps; t += ${by === 'taps' ? shares : 1}u) {
${columns.tap}
    for (var channel = block; channel < behind; channel += ${together.length * apart}u) {
${together.map((u) => `      let channel_${u} = ${u === 0 ? 'channel' : `min(channel + ${u * apart}u, here - 1u)`}; let x_${u} = ${u === 0 ? '' : 'select(0.0, '}${columns.met(0, `(first_channel + channel_${u}) * plane`)}${u === 0 ? '' : `, channel + ${u * apart}u < here)`};`).join('\n')}
${together.map((u) => `      { let at = (channel_${u} * taps + t) * ${vectors.length}u; ${vectors.map((v) => `sum_${v} = fma(vec4<f32>(x_${u}), memory[at + ${v}u], sum_${v});`).join(' ')} }`).join('\n')}
    }
    }
    }
  }
  let to = (column_0 / outputs * filters + product * of_group) * outputs + column_0 % outputs;
${shares > 1 ? `  workgroupBarrier();
${vectors.map((v) => `  memory[lane + ${v * THREADS}u] = sum_${v};`).join('\n')}
  workgroupBarrier();
  if (first_column < batch * outputs) {
${vectors.map((v) => `    if (share == ${v % shares}u) {
      var sum = memory[lane % ${positions}u + ${v * THREADS}u];
      for (var s = 1u; s < ${shares}u; s++) { sum += memory[lane % ${positions}u + s * ${positions}u + ${v * THREADS}u]; }
      ${written(v, (i) => `sum[${i}]`)}
    }`).join('\n')}
  }` : `  if (first_column < batch * outputs) {
${vectors.map((v) => `    ${written(v, (i) => `sum_${v}[${i}]`)}`).join('\n')}
  }`}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [], workgroups * groups)] }
}
