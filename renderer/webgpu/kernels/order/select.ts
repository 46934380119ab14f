import { entry, header, numbers, step, storage, THREADS, type Binding } from '../../wgsl/header'
import { scanMemory, sumsBefore } from '../../wgsl/scan'
import type { BufferName, Program, Step } from '../types'
import { keyFunctions } from './keys'
import { BLOCK, BLOCK_BITS, FIRST_RUNS, NETWORK, writeResult, type Sorted } from './network'

/**
 * The first k of long rows: their keys are narrowed down by digits from the highest (radix selection: Alabi et al. 2012), until no more than a
 * workgroup sorts are left. A step counts the digits of the keys that share the digits found before, over all workgroups of a row; the next one
 * finds the digit that the k-th key has. Where few enough are left, later steps do nothing. Of equal keys that are too many, the last step looks
 * for the first ones. It leaves counts and counters at zero, as it found them.
 */

/** Digits from the highest: how far each is shifted, and its bits. */
const DIGITS = [{ shift: 21, bits: 11 }, { shift: 10, bits: 11 }, { shift: 0, bits: 10 }] as const
const BINS = 2 ** DIGITS[0].bits
const PER_THREAD = BINS / THREADS
/** Words of a row's state: the digits found so far, keys in front of those that share them, whether later steps have nothing to do, and candidates. */
const STATE = 4
const COUNTS = DIGITS.length * BINS

/** Elements of a row and of all from which on selection is faster than sorting blocks; most that are selected; and rows, whose counts take memory. */
const SHORTEST = 16_384
const FEWEST = 2 ** 17
const MOST_SELECTED = 1536
const MOST_ROWS = 1024

export const isSelected = (rows: number, length: number, first: number): boolean => length >= SHORTEST && rows * length >= FEWEST && first <= MOST_SELECTED && rows <= MOST_ROWS

/** Workgroups that fill a device, and elements that are worth one; loads of a thread that are on their way together. */
const FILLED = 1056
const LEAST_ELEMENTS = 4096
const AT_ONCE = 8

/** dims: rows, length, parts, elements of a part, first. */
const PLACE = `  let row = group / dim(2u);
  if (row >= dim(0u)) { return; }
  let begin = group % dim(2u) * dim(3u);
  let end = min(begin + dim(3u), dim(1u));
  let base = row * dim(1u);`

const each = (text: (k: number) => string): string => numbers(AT_ONCE).map((k) => `    ${text(k)}`).join('\n')

/** Every key of the part, `use` of which sees its number; those behind the part are left out. */
const keys = (use: (k: number) => string): string => `  for (var i = begin + lane; i < end; i += ${AT_ONCE * THREADS}u) {
${each((k) => `let key${k} = key_of(f32(x[base + min(i + ${k * THREADS}u, end - 1u)]));`)}
${each((k) => `if (i + ${k * THREADS}u < end) { ${use(k)} }`)}
  }`

/** Declares what finds a digit. */
const FINDING = `${scanMemory()}var<workgroup> found: vec4<u32>;
`

/** The state behind digit \`digit\`: the bin where the counts reach the row's \`first\`. One workgroup of each row leaves it for later steps. */
const behind = (digit: number): string => {
  const { bits } = DIGITS[digit]!
  const at = (k: number) => `counts[row * ${COUNTS}u + ${digit * BINS}u + lane * ${PER_THREAD}u + ${k}u]`
  const own = numbers(PER_THREAD)
  return `  {
    let known = ${digit === 0 ? 'vec4<u32>(0u)' : `states[row * ${DIGITS.length}u + ${digit - 1}u]`};
${own.map((k) => `    let c${k} = atomicLoad(&${at(k)});`).join('\n')}
    sums[lane] = ${own.map((k) => `c${k}`).join(' + ')};
    if (lane == 0u) { found = known; }
${sumsBefore('ahead', 'known.y')}
${own.map((k) => `    if (known.z == 0u && ahead < dim(4u) && ahead + c${k} >= dim(4u)) { found = vec4<u32>((known.x << ${bits}u) | (lane * ${PER_THREAD}u + ${k}u), ahead, select(0u, ${digit + 1}u, ahead + c${k} <= ${BLOCK}u), 0u); }
    ahead += c${k};`).join('\n')}
    workgroupBarrier();
    if (lane == 0u && group % dim(2u) == 0u) { states[row * ${DIGITS.length}u + ${digit}u] = found; }
  }
  let state = workgroupUniformLoad(&found);`
}

const bindingsOf = (type: 'f32' | 'f16', states: 'read' | 'write' | 'none'): Binding[] => [{ name: 'x', type: storage(type, 1) }, { name: 'counts', type: 'atomic<u32>', write: true }, ...(states === 'none' ? [] : [{ name: 'states', type: 'vec4<u32>', write: true }])]
const COUNTED: BufferName = { scratch: 0 }
const STATES: BufferName = { scratch: 1 }
const CANDIDATES: BufferName = { scratch: 2 }

/** Counts a digit of the keys that share those found before. */
function counting(descending: boolean, digit: number, x: BufferName, type: 'f32' | 'f16', dims: readonly number[], groups: number): Step {
  const { shift, bits } = DIGITS[digit]!
  const shared = (k: number) => (digit === 0 ? '' : `if ((key${k} >> ${shift + bits}u) == state.x) `)
  const wgsl = `${header(bindingsOf(type, digit === 0 ? 'none' : 'write'), type === 'f16')}${keyFunctions(descending)}
var<workgroup> bins: array<atomic<u32>, ${BINS}>;
${digit === 0 ? '' : FINDING}${entry(`${PLACE}
${digit === 0 ? '' : `${behind(digit - 1)}\n  if (state.z > 0u) { return; }`}
  for (var w = lane; w < ${BINS}u; w += ${THREADS}u) { atomicStore(&bins[w], 0u); }
  workgroupBarrier();
${keys((k) => `${shared(k)}{ atomicAdd(&bins[(key${k} >> ${shift}u) & ${2 ** bits - 1}u], 1u); }`)}
  workgroupBarrier();
  for (var w = lane; w < ${BINS}u; w += ${THREADS}u) {
    let own = atomicLoad(&bins[w]);
    if (own > 0u) { atomicAdd(&counts[row * ${COUNTS}u + ${digit * BINS}u + w], own); }
  }`)}`
  return step(wgsl, [x, COUNTED, ...(digit === 0 ? [] : [STATES])], dims, groups)
}

/** Collects the candidates of each row in any order: all keys up to those that share the digits found, or those in front of the k-th where its equals are too many. */
function collecting(descending: boolean, x: BufferName, type: 'f32' | 'f16', dims: readonly number[], groups: number): Step {
  const last = DIGITS.length - 1
  const wgsl = `${header([...bindingsOf(type, 'write'), { name: 'candidates', type: 'vec2<u32>', write: true }], type === 'f16')}${keyFunctions(descending)}
${FINDING}${entry(`${PLACE}
${behind(last)}
  // The digits that were found when the steps before were done, or all.
  let shift = select(select(${DIGITS[1].shift}u, ${DIGITS[0].shift}u, state.z == 1u), 0u, state.z == 0u || state.z == 3u);
${keys((k) => `let digits = key${k} >> shift; if (digits < state.x || (digits == state.x && state.z > 0u)) { let at = atomicAdd(&counts[dim(0u) * ${COUNTS}u + row], 1u); if (at < ${BLOCK}u) { candidates[row * ${BLOCK}u + at] = vec2<u32>(key${k}, i + ${k * THREADS}u); } }`)}`)}`
  return step(wgsl, [x, COUNTED, STATES, CANDIDATES], dims, groups)
}

/** Elements that the last step searches at a time for equals of the k-th key. */
const SEARCHED = 8
const EQUALS = `    // Neighbours in order, each thread several: equals are taken by their places.
    var taken = 0u;
    for (var start = 0u; start < dim(1u) && taken < missing; start += ${SEARCHED * THREADS}u) {
      var own = 0u;
      for (var j = 0u; j < ${SEARCHED}u; j++) {
        let i = start + lane * ${SEARCHED}u + j;
        if (i < dim(1u) && key_of(f32(x[row * dim(1u) + i])) == state.x) { own |= 1u << j; }
      }
      keys[lane] = countOneBits(own);
      workgroupBarrier();
      if (lane < 16u) { var top = 0u; for (var j = 0u; j < 16u; j++) { top += keys[lane * 16u + j]; } keys[${THREADS}u + lane] = top; }
      workgroupBarrier();
      if (lane == 0u) { var all = 0u; for (var j = 0u; j < 16u; j++) { all += keys[${THREADS}u + j]; } keys[${THREADS + 16}u] = all; }
      var rank = taken;
      for (var j = 0u; j < lane / 16u; j++) { rank += keys[${THREADS}u + j]; }
      for (var j = lane & 240u; j < lane; j++) { rank += keys[j]; }
      for (var j = 0u; j < ${SEARCHED}u; j++) {
        if ((own & (1u << j)) == 0u) { continue; }
        if (rank < missing) { candidates[row * ${BLOCK}u + state.y + rank] = vec2<u32>(state.x, start + lane * ${SEARCHED}u + j); }
        rank++;
      }
      taken += workgroupUniformLoad(&keys[${THREADS + 16}u]);
    }
    storageBarrier();
`

/** Sorts the candidates of a row by key and place. */
function sorting(descending: boolean, x: BufferName, type: 'f32' | 'f16', to: Sorted, rows: number, length: number, first: number): Step {
  const wgsl = `${header([...bindingsOf(type, 'write'), { name: 'candidates', type: 'vec2<u32>', write: true }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], type === 'f16' || to.type === 'f16')}${keyFunctions(descending)}${NETWORK}
${entry(`  let row = group;
  if (row >= dim(0u)) { return; }
  if (lane == 0u) { let known = states[row * ${DIGITS.length}u + ${DIGITS.length - 1}u]; keys[0] = known.x; keys[1] = known.y; keys[2] = known.z; keys[3] = atomicExchange(&counts[dim(0u) * ${COUNTS}u + row], 0u); }
  let state = vec3<u32>(workgroupUniformLoad(&keys[0]), workgroupUniformLoad(&keys[1]), workgroupUniformLoad(&keys[2]));
  var count = workgroupUniformLoad(&keys[3]);
  if (state.z == 0u) {
    let missing = dim(4u) - state.y;
${EQUALS}    count = dim(4u);
  }
  for (var w = lane; w < ${COUNTS}u; w += ${THREADS}u) { atomicStore(&counts[row * ${COUNTS}u + w], 0u); }
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
    let i = k * ${THREADS}u + lane;
    var pair = vec2<u32>(0xffffffffu, 0xffffffffu - i);
    if (i < count) { pair = candidates[row * ${BLOCK}u + i]; }
    keys[placed(i)] = pair.x;
    places[placed(i)] = pair.y;
  }
  workgroupBarrier();
  let first = 0u;
  let mask = ${BLOCK - 1}u;
${FIRST_RUNS}  for (var run = 4u; run <= ${BLOCK_BITS}u; run++) { network(run, run, 0u, mask, lane); }
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
    let i = k * ${THREADS}u + lane;
    if (i < dim(4u)) { ${writeResult(to.type, 'i')} }
  }`)}`
  return step(wgsl, [x, COUNTED, STATES, CANDIDATES, to.values, to.places], [rows, length, 1, length, first], rows)
}

/** The first of each row of x. */
export function selectFirst(descending: boolean, rows: number, length: number, first: number, x: { x: BufferName; type: 'f32' | 'f16' }, to: Sorted): Program {
  const wanted = Math.max(1, Math.min(Math.ceil(FILLED / rows), Math.floor(length / LEAST_ELEMENTS)))
  const size = Math.ceil(length / wanted / THREADS) * THREADS
  const parts = Math.ceil(length / size)
  const dims = [rows, length, parts, size, first]
  return {
    scratchBytes: [4 * rows * (COUNTS + 1), 4 * rows * STATE * DIGITS.length, 8 * rows * BLOCK],
    steps: [...DIGITS.map((_, digit) => counting(descending, digit, x.x, x.type, dims, rows * parts)), collecting(descending, x.x, x.type, dims, rows * parts), sorting(descending, x.x, x.type, to, rows, length, first)],
  }
}
