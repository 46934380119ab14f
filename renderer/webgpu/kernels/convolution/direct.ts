import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS, eachArrival } from '../../wgsl/arrivals'
import { entry, header, step, storage, THREADS, widthFor } from '../../wgsl/header'
import type { Program } from '../types'

/** Filters that a thread computes at its position, most first: each element of x is read once for all of them. */
const OWN = [8, 4, 2, 1]
export const FILTERS = OWN[0]!
/** Terms of a sum from which on several threads share it, those where sums leave a device idle, terms that are worth a thread then, and workgroups that fill a device. */
const LONG = 64
const SHORT = 32
const LEAST_TERMS = 4
const FILLED = 128
/** Workgroups of threads that take a sum alone, so that its terms are those of a whole workgroup, from which on none need share it. */
const MANY = 1056
/** Rows of threads that join sums of parts: one thread adds up what they have. */
const MOST_HIGH = 16
/** Terms whose elements and weights a thread loads together. */
const AT_ONCE = 4
/** Positions of a workgroup from which on the terms that a thread has together are neighbours, whose weights are a vector: threads of fewer would not read neighbours of x. */
const LEAST_POSITIONS = 8

/** What the threads of a workgroup have: positions beside each other, `shares` of the sums of each, and as many filters of each position. */
export interface DirectPlan {
  positions: number
  shares: number
  filters: number
  /** Of the filters of one group of the convolution. */
  filterGroups: number
  /** Workgroups, those that share the sums of the same outputs included. */
  workgroups: number
  /** Parts of the terms, each of a workgroup; the last of them joins the others' sums. */
  parts: number
}

/** Workgroups up to which several share long sums, and terms of each thread that are worth it. */
const FEW_GROUPS = 132
const LEAST_SHARED = 16

/** Positions of workgroups whose neighbours read whole sectors of memory, elements that are worth fewer of them, and words of the parts that a thread waits for at most. */
const NARROW = [32, 16, 8]
const MUCH = 2 ** 20
const MOST_AWAITED = 32

/** Plan for `all` positions (of all images and groups), `filters` of each, sums of `terms`. */
export function directPlan(all: number, filters: number, terms: number): DirectPlan {
  const planned = (positions: number, most: number): DirectPlan => {
    const filterGroups = Math.ceil(filters / most)
    const own = Math.ceil(filters / filterGroups)
    return { positions, shares: THREADS / positions, filters: own, filterGroups, workgroups: Math.ceil((all * filterGroups) / positions), parts: 1 }
  }
  const fits = ({ workgroups }: DirectPlan) => workgroups >= FILLED
  // Threads have fewer filters, and sums are shared by more threads, until there are enough workgroups.
  const alone = OWN.map((most) => planned(THREADS, most)).find(fits) ?? planned(THREADS, 1)
  if (terms < (fits(alone) ? LONG : SHORT) || planned(THREADS, FILTERS).workgroups >= MANY) return alone
  const positions = [32, 8, 2].filter((count) => terms >= (THREADS / count) * LEAST_TERMS)
  const most = planned(32, FILTERS)
  if (!fits(most) && all * terms >= MUCH) {
    // Rather parts of long sums than elements that several workgroups read.
    for (const count of NARROW) {
      const narrow = planned(count, FILTERS)
      const parts = Math.min(Math.floor((4 * FEW_GROUPS) / narrow.workgroups), Math.floor(terms / (narrow.shares * LEAST_SHARED)))
      if (parts > 1 && parts * narrow.workgroups >= 2 * FEW_GROUPS && parts * count * narrow.filters <= MOST_AWAITED * THREADS) return { ...narrow, parts, workgroups: narrow.workgroups * parts }
    }
  }
  const plan = OWN.flatMap((most) => positions.map((count) => planned(count, most))).find(fits) ?? planned(positions.at(-1) ?? 32, OWN.at(-1)!)
  const parts = plan.workgroups > FEW_GROUPS ? 1 : Math.max(1, Math.min(Math.floor((4 * FEW_GROUPS) / plan.workgroups), Math.floor(terms / (plan.shares * LEAST_SHARED))))
  return { ...plan, parts, workgroups: plan.workgroups * parts }
}

/**
 * A convolution without tiles, where these would stand nearly empty or be too few: a thread computes some filters at one position, or a share of
 * their sums, of `terms` each. `gathered` is WGSL of the extents and of `met(base, output, tap)`; see table.ts.
 */
export function directConvolution(dtype: 'f32' | 'f16', plan: DirectPlan, gathered: string, all: number, terms: number): Program {
  const type = storage(dtype, 1)
  const width = plan.positions >= LEAST_POSITIONS ? widthFor(terms) : 1
  const { positions, shares, filters, filterGroups, workgroups, parts } = plan
  const split = parts > 1
  const each = (text: (f: number) => string) => Array.from({ length: filters }, (_, f) => text(f)).join('\n')
  const written = (f: number, sum: string) => `if (first + ${f}u < of_group) { out[at + ${f}u * outputs] = ${type}(${sum}); }`
  const joins: string[] = []
  for (let left = shares; left > 1; ) {
    const by = left % 4 === 0 ? 4 : 2
    left /= by
    const others = (f: number) => Array.from({ length: by }, (_, i) => `sums[lane + ${f * THREADS + i * left * positions}u]`).join(' + ')
    joins.push(`  workgroupBarrier();\n  if (lane < ${left * positions}u) {\n${each((f) => `    sums[lane + ${f * THREADS}u] = ${others(f)};`)}\n  }`)
  }
  // Sums of the parts: those of a part side by side, of which several rows of threads take every so many.
  const own = positions * filters
  const high = Math.min(MOST_HIGH, Math.floor(THREADS / own))
  const joined = `  let places = block * ${own * parts}u;
  if (share == 0u) {
${each((f) => `    leave(places + part * ${own}u + ${f * positions}u + lane, sums[lane + ${f * THREADS}u]);`)}
  }
  if (is_last(dim(1u) * ${own * parts}u + block, ${parts}u, lane)) {
    var rest = 0.0;
    if (lane < ${own * high}u) {
${eachArrival(`lane / ${own}u`, `${parts}u`, `${high}u`, (i) => `places + (${i}) * ${own}u + lane % ${own}u`, (value) => `rest += ${value};`)}
    }
    workgroupBarrier();
    sums[lane] = rest;
    workgroupBarrier();
    if (live && share == 0u) {
${each((f) => `      { var total = 0.0; for (var h = 0u; h < ${high}u; h++) { total += sums[lane + ${f * positions}u + h * ${own}u]; } ${written(f, 'total')} }`)}
    }
  }`
  const together = Array.from({ length: AT_ONCE }, (_, u) => u)
  // Terms behind the last one are read again and dropped; there are none where terms are whole vectors.
  const load = width === AT_ONCE
    ? `      let met_here = vec4<f32>(${together.map((u) => `met(base_x + (e + ${u}u) / taps * plane, position, (e + ${u}u) % taps)`).join(', ')});
${each((f) => `      let w_${f} = vec4<f32>(weight[(row_${f} + e) / 4u]);`)}`
    : together.map((u) => `      let e_${u} = ${u === 0 ? 'e' : `min(e + ${u * shares}u, end - 1u)`};
      let x_${u} = ${u === 0 ? 'met' : `select(0.0, met`}(base_x + e_${u} / taps * plane, position, e_${u} % taps)${u === 0 ? '' : `, e + ${u * shares}u < end)`};
${each((f) => `      let w_${u}_${f} = f32(weight[row_${f} + e_${u}]);`)}`).join('\n')
  const add = width === AT_ONCE ? each((f) => `      sum_${f} += dot(met_here, w_${f});`) : together.map((u) => each((f) => `      sum_${f} = fma(x_${u}, w_${u}_${f}, sum_${f});`)).join('\n')
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type: storage(dtype, width) }, { name: 'out', type, write: true }, ...(split ? [ARRIVALS] : [])], dtype === 'f16')}
${gathered}
const of_group = filters / groups;
const terms = per_group * taps;
${split ? `const chunk = (terms / ${width}u + ${parts - 1}u) / ${parts}u * ${width}u;\n` : ''}${shares > 1 ? `var<workgroup> sums: array<f32, ${filters * THREADS}>;` : ''}
${split ? ARRIVAL_FUNCTIONS : ''}${entry(`${split ? `  let block = group / ${parts}u;\n  if (block >= dim(1u)) { return; }\n  let part = group % ${parts}u;\n` : ''}  let index = ${split ? 'block' : 'group'} * ${positions}u + lane % ${positions}u;
  let share = lane / ${positions}u;
  let live = index < dim(0u);
  let position = index % outputs;
  let first = index / outputs % ${filterGroups}u * ${filters}u;
  let image = index / (outputs * ${filterGroups}u);
  let base_x = (image / groups * channels + image % groups * per_group) * plane;
  let base_filter = image % groups * of_group;
${each((f) => `  var sum_${f} = 0.0;\n  let row_${f} = (base_filter + min(first + ${f}u, of_group - 1u)) * terms;`)}
  let end = ${split ? 'min(terms, (part + 1u) * chunk)' : 'terms'};
  if (live) {
    for (var e = ${split ? `part * chunk + ` : ''}share${width > 1 ? ` * ${width}u` : ''}; e < end; e += ${AT_ONCE * shares}u) {
${load}
${add}
    }
  }
  let at = (image / groups * filters + base_filter + first) * outputs + position;
${shares > 1 ? `${each((f) => `  sums[lane + ${f * THREADS}u] = sum_${f};`)}\n${joins.join('\n')}\n${split ? joined : `  if (live && share == 0u) {\n${each((f) => `    ${written(f, `sums[lane + ${f * THREADS}u]`)}`)}\n  }`}` : `  if (live) {\n${each((f) => `    ${written(f, `sum_${f}`)}`)}\n  }`}`)}`
  const blocks = workgroups / parts
  return { scratchBytes: split ? [arrivalBytes(workgroups * own, blocks)] : [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output', ...(split ? [{ scratch: 0 }] : [])], [all * filterGroups, blocks], workgroups)] }
}
