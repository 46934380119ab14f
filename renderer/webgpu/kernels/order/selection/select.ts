import { entry, header, numbers, step, storage, THREADS, type Binding } from '../../../wgsl/header'
import { scanMemory, sumsBefore } from '../../../wgsl/scan'
import { exchange, reduction } from '../../../wgsl/rows'
import type { BufferName, DeviceLimits, Program, Step } from '../../types'
import { boundSteps, planBounds } from './bounded'
import { BINS, CANDIDATES, COUNTED, COUNTS, DIGITS, keys, PLACE, STATES } from './digits'
import { keyFunctions } from '../keys'
import { BLOCK, BLOCK_BITS, FIRST_RUNS, NETWORK, writeResult, type Sorted } from '../network'

/**
 * The first k of long rows: their keys are narrowed down by digits from the highest (radix selection: Alabi et al. 2012), until no more are left than a
 * workgroup keeps. A step counts the digits of the keys that share the digits found before, over all workgroups of a row; the next one
 * finds the digit that the k-th key has. Where few enough are left, later steps do nothing. Of equal keys that are too many, the last step looks
 * for the first ones. It leaves counts and counters at zero, as it found them.
 */

/** Words of a row's state: the digits found so far, keys in front of those that share them, whether later steps have nothing to do, and candidates. */
const STATE = 4
/** Counts of a thread. */
const PER_THREAD = BINS / THREADS

/** Elements of a row and of all from which on selection is faster than sorting blocks; most that are selected; and rows, whose counts take memory. */
const SHORTEST = 16_384
const FEWEST = 2 ** 17
const MOST_SELECTED = 1536
const MOST_ROWS = 1024

export const isSelected = (rows: number, length: number, first: number): boolean => length >= SHORTEST && rows * length >= FEWEST && first <= MOST_SELECTED && rows <= MOST_ROWS

/** Workgroups that fill a device, and elements that are worth one. */
const FILLED = 1056
const LEAST_ELEMENTS = 4096

/** Declares what finds a digit. */
const FINDING = `${scanMemory()}var<workgroup> found: vec4<u32>;
`

/** The state behind digit `digit`: the bin where the counts reach the row's `first`. One workgroup of each row leaves it for later steps. */
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

/** A count of each row is zero again: workgroups of the row share that. */
const cleared = (digit: number): string => `  for (var w = group % dim(2u) * ${THREADS}u + lane; w < ${BINS}u; w += dim(2u) * ${THREADS}u) { atomicStore(&counts[row * ${COUNTS}u + ${digit * BINS}u + w], 0u); }`

/** Whether candidates were found by a bound of their keys (bounded.ts): then nothing is left to count and collect. */
const GUARD = `  if (lane == 0u) { bounded = atomicLoad(&counts[dim(0u) * ${COUNTS + 1}u + row]); }
  if (workgroupUniformLoad(&bounded) <= ${BLOCK}u) { return; }
`
const GUARDED = 'var<workgroup> bounded: u32;\n'

/** Counts a digit of the keys that share those found before. */
function counting(descending: boolean, digit: number, x: BufferName, type: 'f32' | 'f16', dims: readonly number[], groups: number, isGuarded: boolean): Step {
  const { shift, bits } = DIGITS[digit]!
  const shared = (k: number) => (digit === 0 ? '' : `if ((key${k} >> ${shift + bits}u) == state.x) `)
  const wgsl = `${header(bindingsOf(type, digit === 0 ? 'none' : 'write'), type === 'f16')}${keyFunctions(descending)}
var<workgroup> bins: array<atomic<u32>, ${BINS}>;
${isGuarded ? GUARDED : ''}${digit === 0 ? '' : FINDING}${entry(`${PLACE}
${isGuarded ? GUARD : ''}${digit === 0 ? isGuarded ? '' : `  if (group % dim(2u) == 0u && lane == 0u) { atomicStore(&counts[dim(0u) * ${COUNTS}u + row], 0u); }` : digit === 2 ? cleared(0) : ''}
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
function collecting(descending: boolean, x: BufferName, type: 'f32' | 'f16', dims: readonly number[], groups: number, isGuarded: boolean): Step {
  const last = DIGITS.length - 1
  const wgsl = `${header([...bindingsOf(type, 'write'), { name: 'candidates', type: 'vec2<u32>', write: true }], type === 'f16')}${keyFunctions(descending)}
${isGuarded ? GUARDED : ''}${FINDING}${entry(`${PLACE}
${isGuarded ? GUARD : ''}${cleared(1)}
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

/** Rows whose candidates are ranked, each by several workgroups; those of more are sorted by one. */
const MOST_RANKED_ROWS = 128
/** Candidates of a workgroup, each compared with the others by as many threads as leave each some; and vectors of keys that a thread has together. */
const OF_GROUP = 32
const SHARING = THREADS / OF_GROUP

/** Each candidate of a row to its place, which is behind as many as are in front of it: workgroups share that. Equals of the k-th key stand behind all others, in the order of their places. */
function ranking(descending: boolean, x: BufferName, type: 'f32' | 'f16', to: Sorted, rows: number, length: number, first: number, isGuarded: boolean, { subgroups }: DeviceLimits): Step {
  const groups = BLOCK / OF_GROUP
  const written = (rank: string, key: string, place: string) => `values[row * dim(4u) + ${rank}] = ${storage(to.type, 1)}(value_of(${key})); indices[row * dim(4u) + ${rank}] = i32(${place});`
  const sides = ['x', 'y', 'z', 'w']
  const wgsl = `${header([...bindingsOf(type, 'write'), { name: 'candidates', type: 'vec2<u32>', write: true }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], type === 'f16' || to.type === 'f16', subgroups !== undefined)}${keyFunctions(descending)}
var<workgroup> keys: array<vec4<u32>, ${BLOCK / 4}>;
var<workgroup> known: vec4<u32>;
${scanMemory()}${exchange(THREADS, 'u32')}${reduction('rank', SHARING, (a, b) => `${a} + ${b}`, subgroups, 'u32')}
${entry(`  let row = group / ${groups}u;
  if (row >= dim(0u)) { return; }
  let slot = group % ${groups}u;
  if (lane == 0u) { let state = states[row * ${DIGITS.length}u + ${DIGITS.length - 1}u]; ${isGuarded ? `let bounded = atomicLoad(&counts[dim(0u) * ${COUNTS + 1}u + row]);
    known = select(vec4<u32>(state.xyz, atomicLoad(&counts[dim(0u) * ${COUNTS}u + row])), vec4<u32>(0u, 0u, 1u, bounded), bounded <= ${BLOCK}u);` : `known = vec4<u32>(state.xyz, atomicLoad(&counts[dim(0u) * ${COUNTS}u + row]));`} }
  let state = workgroupUniformLoad(&known);
  let count = min(state.w, ${BLOCK}u);
  if (slot == 0u) { for (var w = lane; w < ${BINS}u; w += ${THREADS}u) { atomicStore(&counts[row * ${COUNTS}u + ${(DIGITS.length - 1) * BINS}u + w], 0u); } }
  if (slot * ${OF_GROUP}u < count) {
    for (var v = lane; v < (count + 3u) / 4u; v += ${THREADS}u) {
${numbers(4).map((j) => `      let pair_${j} = candidates[row * ${BLOCK}u + min(4u * v + ${j}u, count - 1u)].x;`).join('\n')}
      keys[v] = select(vec4<u32>(0xffffffffu), vec4<u32>(pair_0, pair_1, pair_2, pair_3), vec4<u32>(4u * v) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(count));
    }
    workgroupBarrier();
    let own = slot * ${OF_GROUP}u + lane / ${SHARING}u;
    let pair = candidates[row * ${BLOCK}u + min(own, count - 1u)];
    var before = vec4<u32>(0u);
    for (var v = lane % ${SHARING}u; v < (count + 3u) / 4u; v += ${SHARING}u) {
      let others = keys[v];
      before += select(vec4<u32>(0u), vec4<u32>(1u), others < vec4<u32>(pair.x));
      if (any(others == vec4<u32>(pair.x))) {
${sides.map((side, j) => `        if (others.${side} == pair.x && 4u * v + ${j}u < count && candidates[row * ${BLOCK}u + 4u * v + ${j}u].y < pair.y) { before.x++; }`).join('\n')}
      }
    }
    let rank = reduce_rank(before.x + before.y + before.z + before.w, lane);
    if (lane % ${SHARING}u == 0u && own < count && rank < dim(4u)) { ${written('rank', 'pair.x', 'pair.y')} }
  }
  if (slot == 0u && state.z == 0u) {
    // Neighbours in order, each thread several: equals are taken by their places.
    var taken = state.y;
    for (var start = 0u; start < dim(1u) && taken < dim(4u); start += ${SEARCHED * THREADS}u) {
      var own = 0u;
      for (var j = 0u; j < ${SEARCHED}u; j++) {
        let i = start + lane * ${SEARCHED}u + j;
        if (i < dim(1u) && key_of(f32(x[row * dim(1u) + i])) == state.x) { own |= 1u << j; }
      }
      workgroupBarrier();
      sums[lane] = countOneBits(own);
${sumsBefore('rank', 'taken')}
      for (var j = 0u; j < ${SEARCHED}u; j++) {
        if ((own & (1u << j)) == 0u) { continue; }
        if (rank < dim(4u)) { ${written('rank', 'state.x', `start + lane * ${SEARCHED}u + j`)} }
        rank++;
      }
      if (lane == ${THREADS - 1}u) { known.x = rank; }
      taken = workgroupUniformLoad(&known).x;
    }
  }`)}`
  return step(wgsl, [x, COUNTED, STATES, CANDIDATES, to.values, to.places], [rows, length, 1, length, first], rows * groups)
}

/** The first of each row of x. */
export function selectFirst(descending: boolean, rows: number, length: number, first: number, { x, type }: { x: BufferName; type: 'f32' | 'f16' }, to: Sorted, device: DeviceLimits): Program {
  const wanted = Math.max(1, Math.min(Math.ceil(FILLED / rows), Math.floor(length / LEAST_ELEMENTS)))
  const size = Math.ceil(length / wanted / THREADS) * THREADS
  const parts = Math.ceil(length / size)
  const dims = [rows, length, parts, size, first]
  const isRanked = rows <= MOST_RANKED_ROWS
  const bounds = isRanked ? planBounds(rows, parts, size, first) : undefined
  const isGuarded = bounds !== undefined
  return {
    scratchBytes: [4 * rows * (COUNTS + (isGuarded ? 2 : 1)), 4 * rows * STATE * DIGITS.length, 8 * rows * BLOCK, ...(bounds ? [bounds.bytes] : [])],
    steps: [
      ...(bounds ? boundSteps(descending, { x, type }, dims, bounds, device) : []),
      ...DIGITS.map((_, digit) => counting(descending, digit, x, type, dims, rows * parts, isGuarded)),
      collecting(descending, x, type, dims, rows * parts, isGuarded),
      isRanked ? ranking(descending, x, type, to, rows, length, first, isGuarded, device) : sorting(descending, x, type, to, rows, length, first),
    ],
  }
}
