import { entry, header, step, storage, THREADS, working, type Width, widthFor } from '../../wgsl/header'
import { rowSteps } from '../../wgsl/row-op/steps'
import type { RowTensor } from '../../wgsl/row-op/types'
import { exchange, reduction, sumOf } from '../../wgsl/rows'
import { dimOf, type DeviceLimits, type Kernel, type KernelShape, type Program } from '../types'

/** Vectors of a group that a thread keeps where a row operation has it: groups are longer than other rows, and few. */
const GROUP_KEPT = 28
/** Threads of a workgroup that keeps a whole group, and the f32 that each keeps: two workgroups of the first, or one, fill the registers of a multiprocessor. */
const WHOLE = [{ lanes: 256, registers: 112 }, { lanes: 512, registers: 100 }] as const
/** The same of a workgroup that keeps a part, and reads the rest again from the last level of cache, which has room for that of all. */
const PART = { lanes: 1024, registers: 40, longest: 2 ** 17 }
/** Groups that fill any device known here so, and those from which on row operations leave some of it idle. */
const FEWEST_OF_PARTS = 128
const FEW_GROUPS = 264
/** Vectors up to which threads have few each, and channels whose weights fit the memory of a workgroup beside what threads combine. */
const SHORT = 1024
const MOST_CHANNELS = 512
/** Vectors from which on threads are as many as leave the fewest without one, in whole subgroups; so each has up to so many. */
const FITTED = { from: 4096, to: 7168, kept: 16, leastSubgroup: 32, most: 512 }
/** Vectors that row operations keep where groups are few. */
const MOST_OF_ROWS = 8192
/** Groups of no whole vectors: elements, those of a thread, and groups from which on two workgroups of fewer threads share a multiprocessor. */
const SINGLES = { from: 4096, many: 1024, few: { lanes: 512, kept: 56 }, usual: { lanes: 256, kept: 112 } }

/** How a workgroup takes a group: each of its threads keeps `kept` vectors of `width` elements, and reads `again` in front of these twice. */
export interface GroupPlan {
  width: Width
  vectors: number
  lanes: number
  kept: number
  again: number
  /** What a thread's squares are taken around: its own mean, after a sum, or in one pass a value of its own. */
  around: 'mean' | 'value'
}

/** Threads, a multiple of those of a subgroup, of which the fewest have no vector at the end. */
function fittedLanes(vectors: number, subgroup: number): number {
  const { kept, most } = FITTED
  let best = { lanes: most, empty: Infinity }
  for (let lanes = subgroup; lanes <= most; lanes += subgroup) {
    const each = Math.ceil(vectors / lanes)
    const empty = each * lanes - vectors
    if (each <= kept && empty < best.empty - 2 * subgroup) best = { lanes, empty }
  }
  return best.lanes
}

/** Undefined where row operations have the groups: few or short. */
export function planGroups(rows: number, length: number, channels: number, { threads = THREADS, workgroupBytes = 0, subgroups = 0 }: DeviceLimits): GroupPlan | undefined {
  const width = widthFor(length)
  const vectors = length / width
  if (channels > MOST_CHANNELS || vectors <= SHORT) return undefined
  const ofPart = (): GroupPlan => ({ width, vectors, lanes: PART.lanes, kept: PART.registers / width, again: Math.ceil(vectors / PART.lanes) - PART.registers / width, around: 'mean' })
  const whole = (lanes: number, around: GroupPlan['around']): GroupPlan => ({ width, vectors, lanes, kept: Math.ceil(vectors / lanes), again: 0, around })
  const fitsLarge = PART.lanes <= threads && 8 * (PART.lanes + channels) + 4 <= workgroupBytes
  if (width === 1) {
    const { lanes, kept } = rows > SINGLES.many ? SINGLES.usual : SINGLES.few
    if (rows > FEW_GROUPS && length > SINGLES.from && length <= lanes * kept && lanes <= threads) return whole(lanes, 'value')
    return rows >= FEWEST_OF_PARTS && length > PART.lanes * PART.registers && length <= PART.longest && fitsLarge ? ofPart() : undefined
  }
  const ofUsual = WHOLE.find(({ lanes, registers }) => lanes <= threads && Math.ceil(vectors / lanes) * width <= registers)
  if (rows > FEW_GROUPS && vectors > FITTED.from && vectors <= FITTED.to && subgroups >= FITTED.leastSubgroup && threads >= FITTED.most) return whole(fittedLanes(vectors, subgroups), 'value')
  if (rows >= FEWEST_OF_PARTS && vectors > (rows > FEW_GROUPS ? FITTED.to : MOST_OF_ROWS) && vectors * width <= PART.lanes * PART.registers && fitsLarge) return whole(PART.lanes, 'value')
  if (ofUsual) return rows > FEW_GROUPS ? whole(ofUsual.lanes, 'mean') : undefined
  return rows < FEWEST_OF_PARTS || length > PART.longest || !fitsLarge ? undefined : ofPart()
}

/** WGSL of a weight or bias for each element of a vector at `at` (VU, columns of the group), from the channel's own by `of`. A vector lies in one channel where planes are whole vectors. */
const byChannel = (width: Width, plane: number, of: (channel: string) => string): string => {
  const lane = (side: string) => of(`at${side} / ${plane}u`)
  if (width === 1) return lane('')
  return plane % 4 === 0 ? `VF(${lane('.x')})` : `VF(${['.x', '.y', '.z', '.w'].map(lane).join(', ')})`
}

/** Vectors, or single elements, that are on their way together where they are not kept. */
const TOGETHER = { 4: 4, 1: 8 } as const

/** Count, mean, and squares around the mean, of two joined (Chan, Golub & LeVeque 1979). */
const JOIN_MOMENTS = `fn join_moments(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
  let both = a.x + b.x;
  let share = b.x / max(both, 1.0);
  let off = b.y - a.y;
  return vec3<f32>(both, a.y + off * share, a.z + b.z + off * off * a.x * share);
}
`

/**
 * Groups that workgroups keep, weights of their channels in workgroup memory. Threads have the moments of what they keep around means of their own, and combine them once, around that of
 * the first thread: it is so near to the others that squares lose few digits.
 */
function ofWorkgroups(shape: KernelShape, { width, vectors, lanes, kept, again, around }: GroupPlan): Program {
  const [batch, channels, plane, groups] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
  const perGroup = channels / groups
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vf] = [storage(dtype, width), working(width)]
  const numbers = Array.from({ length: kept }, (_, k) => k)
  const offset = (k: number) => `lane + ${(again + k) * lanes}u`
  const isWhole = (k: number) => (again + k + 1) * lanes <= vectors
  const each = (text: (k: number) => string) => numbers.map((k) => `  ${isWhole(k) ? '' : `if (${offset(k)} < ${vectors}u) `}{ ${text(k)} }`).join('\n')
  const seen = numbers.map((k) => (isWhole(k) ? `${width}.0` : `select(0.0, ${width}.0, ${offset(k)} < ${vectors}u)`)).join(' + ')
  const scaled = (x: string) => (around === 'mean' ? `(${x} - mean) * rstd * weight_at(at)` : `(${x} - mean) * (rstd * weight_at(at))`)
  const result = (x: string, offset: string) => `let at = ${width === 4 ? `VU(4u * (${offset})) + VU(0u, 1u, 2u, 3u)` : offset}; out[base + ${offset}] = ${type}(${scaled(x)} + bias_at(at));`
  /** Of what is read again some vectors at a time, past the last one that one, which is dropped. */
  const place = (k: number) => `min(j + ${k}u, ${again - 1}u) * ${lanes}u + lane`
  const together = TOGETHER[width]
  const some = (text: (k: number) => string) => `${Array.from({ length: together }, (_, k) => `    let v_${k} = ${vf}(x_in[base + ${place(k)}]);`).join('\n')}
${Array.from({ length: together }, (_, k) => `    ${k === 0 || again % together === 0 ? '' : `if (j + ${k}u < ${again}u) `}{ ${text(k)} }`).join('\n')}`
  const readFirst = `  var again_seen = 0.0;
  var again_mean = ${vf}(0.0);
  var again_sum = ${vf}(0.0);
  for (var j = 0u; j < ${again}u; j += ${together}u) {
${some((k) => `again_seen += 1.0; let off = v_${k} - again_mean; again_mean += off / again_seen; again_sum += off * (v_${k} - again_mean);`)}
  }
  let again_own = ${sumOf('again_mean', width)} / ${width}.0;
  let again_off = again_mean - ${vf}(again_own);
  own = join_moments(vec3<f32>(${again * width}.0, again_own, ${sumOf(`(again_sum + ${again}.0 * again_off * again_off)`, width)}), own);
`
  const aroundMean = `${each((k) => `sum += x_${k};`)}
  let own_mean = ${sumOf('sum', width)} / max(seen, 1.0);
${each((k) => `let off = x_${k} - own_mean; squares += off * off;`)}
  var own = vec3<f32>(seen, own_mean, ${sumOf('squares', width)});`
  // The value is one of the thread's: squares around it lose no more digits than as many values as it has.
  const aroundValue = `  let value = ${width === 4 ? 'x_0.x' : 'x_0'};
${each((k) => `let off = x_${k} - value; sum += off; squares += off * off;`)}
  let total = ${sumOf('sum', width)};
  let beyond = total / max(seen, 1.0);
  var own = vec3<f32>(seen, value + beyond, max(${sumOf('squares', width)} - total * beyond, 0.0));`
  // The last of it first, which caches still hold.
  const readAgain = `  for (var round = ${Math.ceil(again / together)}u; round > 0u; round--) {
    let j = ${together}u * (round - 1u);
${some((k) => result(`v_${k}`, place(k)))}
  }
`
  const wgsl = `${header([{ name: 'x_in', type }, { name: 'weight', type: storage(dtype, 1) }, { name: 'bias', type: storage(dtype, 1) }, { name: 'out', type, write: true }], dtype === 'f16', shape.subgroups !== undefined)}alias VF = ${vf}; alias VU = ${width === 4 ? 'vec4<u32>' : 'u32'};
${exchange(lanes, 'vec2<f32>')}var<workgroup> weights: array<vec2<f32>, ${perGroup}>;
var<workgroup> first_mean: f32;
${again > 0 ? JOIN_MOMENTS : ''}${reduction('sums', lanes, (a, b) => `${a} + ${b}`, shape.subgroups, 'vec2<f32>')}
fn weight_at(at: VU) -> VF { return ${byChannel(width, plane, (channel) => `weights[${channel}].x`)}; }
fn bias_at(at: VU) -> VF { return ${byChannel(width, plane, (channel) => `weights[${channel}].y`)}; }
${entry(`  if (group >= dim(0u)) { return; }
  let base = group * ${vectors}u;
${numbers.map((k) => `  var x_${k} = ${vf}(0.0);`).join('\n')}
${each((k) => `x_${k} = ${vf}(x_in[base + ${offset(k)}]);`)}
  let channel = group % ${groups}u * ${perGroup}u;
  for (var c = lane; c < ${perGroup}u; c += ${lanes}u) { weights[c] = vec2<f32>(f32(weight[channel + c]), f32(bias[channel + c])); }
  var sum = ${vf}(0.0);
  var squares = ${vf}(0.0);
  let seen = ${seen};
${around === 'mean' ? aroundMean : aroundValue}
${again > 0 ? readFirst : ''}  if (lane == 0u) { first_mean = own.y; }
  let near = workgroupUniformLoad(&first_mean);
  let own_off = own.y - near;
  let all = reduce_sums(vec2<f32>(own.x * own_off, own.z + own.x * own_off * own_off), lane);
  let mean_off = all.x / f32(dim(1u));
  let mean = near + mean_off;
  let rstd = inverseSqrt(max(all.y - all.x * mean_off, 0.0) / f32(dim(1u)) + scalar(0u));
${each((k) => result(`x_${k}`, offset(k)))}
${again > 0 ? readAgain : ''}`, lanes)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [batch * groups, perGroup * plane], batch * groups, shape.scalars)] }
}

const row = (name: string, input: number): RowTensor => ({ name, from: { input }, by: 'row' })
const raw = (name: string, input: number): RowTensor => ({ name, from: { input }, by: 'raw' })

/** Statistics of [batch * groups] runs of neighbouring channels; weight and bias by channel. */
export const groupNorm: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, channels, plane, groups] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
    const perGroup = channels / groups
    const plan = planGroups(batch * groups, perGroup * plane, perGroup, shape)
    if (plan) return ofWorkgroups(shape, plan)
    const ofChannel = (name: string, width: Width) => byChannel(width, plane, (channel) => `f32(${name}[row % ${groups}u * ${perGroup}u + ${channel}])`)
    return rowSteps({
      tensors: [row('x', 0), raw('weight', 1), raw('bias', 2)],
      functions: (width) => ['weight', 'bias'].map((name) => `fn ${name}_at(row: u32, at: VU) -> VF { return ${ofChannel(name, width)}; }\n`).join(''),
      passes: [{ moments: 'x', sum: 'sum', squares: 'squares' }],
      after: '  let mean = sum / length; let rstd = inverseSqrt(squares / length + scalar(0u));',
      result: { each: '(x - mean) * rstd * weight_at(row, index) + bias_at(row, index)', to: 'output' },
      scalars: shape.scalars,
      kept: GROUP_KEPT,
    }, shape, batch * groups, perGroup * plane)
  },
}
