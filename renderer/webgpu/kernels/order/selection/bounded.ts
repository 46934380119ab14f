import { entry, header, numbers, step, storage, THREADS, widthFor } from '../../../wgsl/header'
import { powerOfTwoFrom } from '../../../wgsl/rows'
import { scanMemory, sumsBefore } from '../../../wgsl/scan'
import type { BufferName, DeviceLimits, Step } from '../../types'
import { keyFunctions } from '../keys'
import { BINS, DIGITS, eachKey } from './candidates'

/**
 * A bound of the first of long rows: the first of the first keys of groups of elements are among them, and no more elements are in front of the last of these than a
 * little more. Threads leave the first key of their elements, and a workgroup finds the bound of a row.
 */

/** Groups of a row at most, more where as many are too few; how many as many are of those that are selected at least; elements of a thread that are worth it. */
const MOST_GROUPS = [8448, 16_896]
const LEAST_OF_FIRST = 2
const LEAST_EACH = 8
const LARGE = 1024

/** dims: rows, length, parts, elements of a part, first. */
export const PLACE = `  let row = group / dim(2u);
  if (row >= dim(0u)) { return; }
  let begin = group % dim(2u) * dim(3u);
  let end = min(begin + dim(3u), dim(1u));
  let base = row * dim(1u);`

export interface BoundPlan {
  /** Threads of a group, and groups of a row. */
  of: number
  groups: number
  bytes: number
}

/** Undefined where groups would be few. */
export function planBounds(rows: number, parts: number, size: number, first: number): BoundPlan | undefined {
  const threads = parts * THREADS
  if (size < LEAST_EACH * THREADS) return undefined
  const plans = MOST_GROUPS.map((most) => Math.max(1, powerOfTwoFrom(Math.ceil(threads / most)))).map((of) => ({ of, groups: threads / of, bytes: 4 * rows * (threads + threads / of + 1) }))
  return plans.find(({ of, groups }) => of <= THREADS && groups >= LEAST_OF_FIRST * first)
}

/** Where the bound of a row is among the first keys. */
export const boundAt = (rows: number, parts: number, { groups }: BoundPlan): number => rows * (parts * THREADS + groups)

/** Leaves the first keys of threads and groups, and the bound of each row. dims: rows, length, parts, elements of a part, first. */
export function findBounds(descending: boolean, { x, type }: { x: BufferName; type: 'f32' | 'f16' }, dims: readonly number[], plan: BoundPlan, firsts: BufferName, { threads = THREADS }: DeviceLimits): Step[] {
  const [rows, length, parts, , first] = dims as [number, number, number, number, number]
  const { of, groups } = plan
  const firstGroup = rows * parts * THREADS
  const bounds = boundAt(rows, parts, plan)
  const width = widthFor(length)
  const leaving = `${header([{ name: 'x', type: storage(type, width) }, { name: 'firsts', type: 'u32', write: true }], type === 'f16')}${keyFunctions(descending)}
${of > 1 ? `var<workgroup> leasts: array<u32, ${THREADS}>;\n` : ''}${entry(`${PLACE}
  var least = 0xffffffffu;
${eachKey(width, THREADS, 'begin', 'end', (key) => `least = min(least, ${key});`)}  firsts[group * ${THREADS}u + lane] = least;
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
  return [step(leaving, [x, firsts], dims, rows * parts), step(bounding, [firsts], dims, rows)]
}
