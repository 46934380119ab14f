import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'
import { placedSums } from './joined'
import { columnsText } from './columns'
import type { FewTermsShape } from './few-terms'

/** Filters of a group whose sums a thread has at its positions. */
const MOST_FILTERS = 24
/** More of them, of long sums at few positions, which tiles of few threads would have in as many parts. */
const MORE_FILTERS = { filters: 32, terms: 512, positions: 2 ** 15 }
/** Terms from which on reading their weights ahead pays, for a vector of filters and for several; and those of a short sum. */
const LEAST_TERMS = { one: 4, several: 24 }
const SHORT_TERMS = 64
/** Positions of a thread, most first, for all of which it reads a weight once: the more of one vector of filters. */
const ACROSS = { one: [4, 2], several: [2] }

/** Threads beside each other, most first; the others of a workgroup share their sums. Fewer would read weights for too few positions. */
const WIDTHS = [256, 128, 64]
/** Workgroups that leave no multiprocessor idle. */
const ENOUGH_GROUPS = 200
/** Workgroups that parts of the channels should fill, terms that are worth a part and the step that joins it, and multiply-adds. */
const FILLED = 396
const LEAST_PART = 72
const LEAST_WORK = 25 * 2 ** 20
/** Filters and positions beyond which reading weights for more positions of a thread is worth the registers. */
const MANY = { filters: 16, positions: 2 ** 18 }
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
  /** Workgroups of a group of channels for all its positions, parts of the channels, each of a workgroup, and channels of a part. */
  workgroups: number
  parts: number
  perPart: number
}

/** Vectors of weights of a term. */
const vectorsOf = (filters: number): number => Math.ceil(filters / 4)

/** How threads take `positions` of all images in each of `groups`; undefined where filters are more, terms fewer, or positions too few. */
export function planFewFilters(groups: number, filters: number, positions: number, channels: number, taps: number): FewFiltersPlan | undefined {
  const vectors = vectorsOf(filters)
  const most = Math.floor(MEMORY / (taps * vectors))
  const kind = vectors === 1 ? 'one' : 'several'
  if (filters > (channels * taps >= MORE_FILTERS.terms && positions < MORE_FILTERS.positions ? MORE_FILTERS.filters : MOST_FILTERS) || channels * taps < LEAST_TERMS[kind] || most < 1) return undefined
  const columns = filters > MANY.filters && positions >= MANY.positions ? ACROSS.one : ACROSS[kind]
  // Long sums are shared rather than weights read for fewer positions.
  const grids = channels * taps > SHORT_TERMS ? columns.flatMap((across) => WIDTHS.map((wide) => [across, wide] as const)) : WIDTHS.flatMap((wide) => columns.map((across) => [across, wide] as const))
  const plans = grids.map(([across, wide]): FewFiltersPlan => {
    const shares = THREADS / wide
    const by = channels >= shares * CHANNELS || channels >= taps ? 'channels' : 'taps'
    const apart = by === 'channels' ? shares : 1
    const wanted = Math.min(CHANNELS, TOGETHER / across, Math.ceil(channels / apart))
    // Weights of few channels fit beside each other: all that fit, a whole number for each thread.
    const room = most > apart * wanted * BATCHES ? most : Math.floor(MOST_MEMORY / (taps * vectors))
    const together = Math.max(1, Math.min(wanted, Math.floor(room / apart)))
    const unit = apart * together
    const step = room > unit * BATCHES ? unit * BATCHES : room >= unit ? unit : room
    const chunk = Math.min(channels, Math.floor(room / step) * step)
    return { wide, across, shares, by, chunk, memory: Math.max(vectors * chunk * taps, shares > 1 ? Math.min(vectors, MOST_MEMORY / THREADS) * THREADS : 0), together, workgroups: Math.ceil(positions / (wide * across)), parts: 1, perPart: channels }
  })
  const fits = plans.filter(({ memory }) => memory <= MOST_MEMORY)
  const whole = fits.find(({ workgroups }) => groups * workgroups >= ENOUGH_GROUPS)
  if (whole || channels * taps < 2 * LEAST_PART || positions * channels * taps * filters < LEAST_WORK) return whole
  // Few positions: parts of the channels, each of a workgroup.
  const cut = fits.filter(({ across }) => ACROSS[kind].includes(across)).map((plan): FewFiltersPlan => {
    const wanted = Math.min(Math.ceil(FILLED / (groups * plan.workgroups)), Math.floor((channels * taps) / LEAST_PART))
    const unit = plan.by === 'channels' ? plan.shares * plan.together : 1
    const perPart = Math.min(channels, Math.ceil(channels / wanted / unit) * unit)
    return { ...plan, parts: Math.ceil(channels / perPart), perPart }
  })
  return cut.find(({ workgroups, parts }) => parts > 1 && groups * workgroups * parts >= ENOUGH_GROUPS)
}

/**
 * A convolution of few filters without tiles: a thread has all filters of a group at some positions, or a share of their sums, and reads each element of x once for
 * all of them, where it lies. Weights are in workgroup memory, those of some channels at a time. `extents` is WGSL of the op's dims as constants.
 */
export function fewFilters(dtype: 'f32' | 'f16', plan: FewFiltersPlan, filters: number, extents: string, { groups, paddings, batch, outputs }: Pick<FewTermsShape, 'groups' | 'paddings'> & { batch: number; outputs: number }): Program {
  const type = storage(dtype, 1)
  const { wide, across, shares, by, chunk, memory, workgroups, parts, perPart } = plan
  const split = parts > 1
  const [vectors, columns, together, own] = [numbers(vectorsOf(filters)), numbers(across), numbers(plan.together), numbers(filters)]
  // Sums of as many vectors as the memory holds are exchanged at a time.
  const held = MOST_MEMORY / THREADS
  const rounds = numbers(Math.ceil(vectors.length / held)).map((r) => vectors.slice(r * held, (r + 1) * held))
  const apart = by === 'channels' ? shares : 1
  const batches = BATCHES * plan.together * apart
  const text = columnsText(across, wide, paddings)
  const each = (line: (v: number, c: number) => string, separator = '\n') => columns.flatMap((c) => vectors.map((v) => line(v, c))).join(separator)
  const written = (v: number, c: number, sum: (i: number) => string) => own.slice(4 * v, 4 * v + 4).map((f, i) => `${split ? `out[to_${c} + ${f}u * batch * outputs] = ${sum(i)};` : `out[to_${c} + ${f}u * outputs] = ${type}(${sum(i)});`}`).join(' ')
  const isLive = (c: number) => `first_column + ${c * wide}u < batch * outputs`
  const results = (c: number) => (shares === 1 ? `  if (${isLive(c)}) { ${vectors.map((v) => written(v, c, (i) => `sum_${v}_${c}[${i}]`)).join(' ')} }`
    : rounds.map((here) => `  workgroupBarrier();
${here.map((v, i) => `  memory[lane + ${i * THREADS}u] = sum_${v}_${c};`).join('\n')}
  workgroupBarrier();
  if (${isLive(c)}) {
${here.map((v, i) => `    if (share == ${i % shares}u) {
      var sum = memory[lane % ${wide}u + ${i * THREADS}u];
      for (var s = 1u; s < ${shares}u; s++) { sum += memory[lane % ${wide}u + s * ${wide}u + ${i * THREADS}u]; }
      ${written(v, c, (f) => `sum[${f}]`)}
    }`).join('\n')}
  }`).join('\n'))
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type }, { name: 'out', type: split ? 'f32' : type, write: true }], dtype === 'f16')}
${extents}const of_group = filters / groups;
const terms = per_group * taps;
var<workgroup> memory: array<vec4<f32>, ${memory}>;
${entry(`  let first_column = group % ${workgroups}u * ${wide * across}u + lane % ${wide}u;
  let product = group / ${workgroups * parts}u;
  if (product >= groups) { return; }
  let share = lane / ${wide}u;
${text.origins}
${each((v, c) => `  var sum_${v}_${c} = vec4<f32>(0.0);`)}
  let part_first = ${split ? `group / ${workgroups}u % ${parts}u * ${perPart}u` : '0u'};
  let part_end = ${split ? `min(per_group, part_first + ${perPart}u)` : 'per_group'};
  for (var first_channel = part_first; first_channel < part_end; first_channel += ${chunk}u) {
    let here = min(part_end - first_channel, ${chunk}u);
    let count = here * taps;
    if (first_channel > part_first) { workgroupBarrier(); }
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
${columns.map((c) => `  let to_${c} = ${split ? `(product * ${parts}u + group / ${workgroups}u % ${parts}u) * of_group * batch * outputs + column_${c}` : `(column_${c} / outputs * filters + product * of_group) * outputs + column_${c} % outputs`};`).join('\n')}
${columns.map(results).join('\n')}`)}`
  const first = step(wgsl, [{ input: 0 }, { input: 1 }, split ? { scratch: 0 } : 'output'], [], workgroups * parts * groups)
  if (!split) return { scratchBytes: [], steps: [first] }
  const columnsOfAll = outputs * batch
  return { scratchBytes: [4 * groups * parts * filters * columnsOfAll], steps: [first, placedSums({ dtype }, { groups, rows: filters, columns: columnsOfAll, outputs }, parts)] }
}
