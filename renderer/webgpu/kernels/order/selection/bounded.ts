import { entry, header, numbers, step, storage, THREADS } from '../../../wgsl/header'
import { powerOfTwoFrom } from '../../../wgsl/rows'
import { scanMemory, sumsBefore } from '../../../wgsl/scan'
import type { BufferName, DeviceLimits, Step } from '../../types'
import { keyFunctions } from '../keys'
import { BLOCK } from '../network'
import { BINS, CANDIDATES, COUNTED, COUNTS, DIGITS, keys, PLACE } from './digits'

/**
 * A bound of the first of long rows: the first of the first keys of groups of elements are among them, and no more elements are in front of the last of these than a
 * little more. Threads leave the first key of their elements, a workgroup finds the bound of a row, and elements up to it are collected, of those threads
 * alone that have some. Where they are more than BLOCK (equal or sorted elements), keys are counted by digits.
 */

/** Groups of a row at most, and how many as many are of those that are selected at least; elements of a thread that are worth it. */
const MOST_GROUPS = 8448
const LEAST_OF_FIRST = 4
const LEAST_EACH = 8
const LARGE = 1024

export interface BoundPlan {
  /** Threads of a group, and groups of a row. */
  of: number
  groups: number
  bytes: number
}

/** Undefined where groups would be few. */
export function planBounds(rows: number, parts: number, size: number, first: number): BoundPlan | undefined {
  const threads = parts * THREADS
  const of = Math.max(1, powerOfTwoFrom(Math.ceil(threads / MOST_GROUPS)))
  const groups = threads / of
  if (of > THREADS || groups < LEAST_OF_FIRST * first || size < LEAST_EACH * THREADS) return undefined
  return { of, groups, bytes: 4 * rows * (threads + groups + 1) }
}

const MAXIMA: BufferName = { scratch: 3 }

/** dims: rows, length, parts, elements of a part, first. */
export function boundSteps(descending: boolean, { x, type }: { x: BufferName; type: 'f32' | 'f16' }, dims: readonly number[], { of, groups }: BoundPlan, { threads = THREADS }: DeviceLimits): Step[] {
  const [rows, , parts, , first] = dims as [number, number, number, number, number]
  const all = parts * THREADS
  const firstGroup = rows * all
  const bounds = firstGroup + rows * groups
  const isF16 = type === 'f16'
  const leaving = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'counts', type: 'atomic<u32>', write: true }, { name: 'firsts', type: 'u32', write: true }], isF16)}${keyFunctions(descending)}
${of > 1 ? `var<workgroup> leasts: array<u32, ${THREADS}>;\n` : ''}${entry(`${PLACE}
  if (lane == 0u && group % dim(2u) == 0u) { atomicStore(&counts[dim(0u) * ${COUNTS}u + row], 0u); atomicStore(&counts[dim(0u) * ${COUNTS + 1}u + row], 0u); }
  var least = 0xffffffffu;
${keys((k) => `least = min(least, key${k});`)}
  firsts[group * ${THREADS}u + lane] = least;
${of > 1 ? `  leasts[lane] = least;
  workgroupBarrier();
  if (lane < ${THREADS / of}u) {
    var of_group = 0xffffffffu;
    for (var j = 0u; j < ${of}u; j++) { of_group = min(of_group, leasts[lane * ${of}u + (lane + j) % ${of}u]); }
    firsts[${firstGroup}u + group * ${THREADS / of}u + lane] = of_group;
  }` : `  firsts[${firstGroup}u + group * ${THREADS}u + lane] = least;`}`)}`
  const wide = threads >= LARGE ? LARGE : THREADS
  const held = numbers(Math.ceil(groups / wide))
  const own = numbers(BINS / wide)
  const bounding = `${header([{ name: 'firsts', type: 'u32', write: true }], false)}
var<workgroup> bins: array<atomic<u32>, ${BINS}>;
var<workgroup> found: vec2<u32>;
${scanMemory(wide)}${entry(`  let row = group;
  if (row >= dim(0u)) { return; }
${held.map((k) => `  let key${k} = ${(k + 1) * wide <= groups ? '' : `select(0xffffffffu, `}firsts[${firstGroup}u + row * ${groups}u + ${(k + 1) * wide <= groups ? `lane + ${k * wide}u]` : `min(lane + ${k * wide}u, ${groups - 1}u)], lane + ${k * wide}u < ${groups}u)`};`).join('\n')}
  var state = vec2<u32>(0u);
${DIGITS.map(({ shift, bits }, digit) => `  {
    for (var w = lane; w < ${BINS}u; w += ${wide}u) { atomicStore(&bins[w], 0u); }
    workgroupBarrier();
${held.map((k) => `    ${digit === 0 ? '' : `if ((key${k} >> ${shift + bits}u) == state.x) `}{ atomicAdd(&bins[(key${k} >> ${shift}u) & ${2 ** bits - 1}u], 1u); }`).join('\n')}
    workgroupBarrier();
${own.map((k) => `    let c${k} = atomicLoad(&bins[lane * ${own.length}u + ${k}u]);`).join('\n')}
    sums[lane] = ${own.map((k) => `c${k}`).join(' + ')};
${sumsBefore('ahead', 'state.y', wide)}
${own.map((k) => `    if (ahead < ${first}u && ahead + c${k} >= ${first}u) { found = vec2<u32>((state.x << ${bits}u) | (lane * ${own.length}u + ${k}u), ahead); }\n    ahead += c${k};`).join('\n')}
    state = workgroupUniformLoad(&found);
  }`).join('\n')}
  if (lane == 0u) { firsts[${bounds}u + row] = state.x; }`, wide)}`
  const collecting = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'counts', type: 'atomic<u32>', write: true }, { name: 'firsts', type: 'u32' }, { name: 'candidates', type: 'vec2<u32>', write: true }], isF16)}${keyFunctions(descending)}
${entry(`${PLACE}
  let bound = firsts[${bounds}u + row];
  if (firsts[group * ${THREADS}u + lane] > bound) { return; }
  var is_full = false;
${keys((k) => `if (key${k} <= bound && !is_full) { let at = atomicAdd(&counts[dim(0u) * ${COUNTS + 1}u + row], 1u); is_full = at >= ${BLOCK}u; if (!is_full) { candidates[row * ${BLOCK}u + at] = vec2<u32>(key${k}, i + ${k * THREADS}u); } }`)}`)}`
  return [
    step(leaving, [x, COUNTED, MAXIMA], dims, rows * parts),
    step(bounding, [MAXIMA], dims, rows),
    step(collecting, [x, COUNTED, MAXIMA, CANDIDATES], dims, rows * parts),
  ]
}
