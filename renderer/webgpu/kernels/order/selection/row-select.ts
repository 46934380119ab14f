import { entry, header, numbers, step, storage, THREADS, widthFor } from '../../../wgsl/header'
import type { BufferName, KernelShape, Program } from '../../types'
import { keyFunctions } from '../keys'
import { exchange, powerOfTwoFrom, reduction } from '../../../wgsl/rows'
import type { Sorted, Source } from '../network'
import { candidateMemory, DIGIT_BITS, KEPT, sortedCandidates } from './candidates'

/** Elements up to which the first elements of all threads say well enough where the first of the row end. */
export const FEW = 64
/** Elements up to which the first keys of as many groups of threads do. */
const FEWER = 16
const SMALLER = (a: string, b: string) => `min(${a}, ${b})`
const LARGER = (a: string, b: string) => `max(${a}, ${b})`
/** Shortest row, and most elements of it, that are selected: of few rows, which wait for each digit, and of the longest, no more than are found without, of long ones more. */
const SHORTEST = 1025
const MOST_SELECTED = 256
const LONG = { length: 4096, selected: 1000, longest: 2 ** 15 }
const MANY_ROWS = 264
/** Candidates that are compared with each other rather than counted by one more digit. */
const RANKED = 128
/** Longest rows, by how many there are at least: of few, several workgroups read one faster. */
const LONGEST = [[1025, Infinity], [132, 2 ** 17], [32, 2 ** 16], [1, 2 ** 15]] as const
/** Vectors of a thread, or candidates, that are on their way together. */
const AT_ONCE = 4

const mostSelected = (rows: number, length: number): number =>
  rows < MANY_ROWS || length > LONG.longest ? FEW : length < LONG.length ? MOST_SELECTED : LONG.selected

/** Whether a workgroup selects the first of a row. */
export const isSelectedByRow = (rows: number, length: number, first: number): boolean =>
  length >= SHORTEST && length <= LONGEST.find(([least]) => rows >= least)![1] && first <= mostSelected(rows, length)

/** Finds a digit as `find` does, and lists from the beginning again. */
const LISTING = `var<workgroup> listed: atomic<u32>;
fn seek(first: u32, before: u32, lane: u32) -> vec3<u32> {
  if (lane == 0u) { atomicStore(&listed, 0u); }
  return find(first, before, lane);
}
fn list(key: u32, place: u32) {
  let at = atomicAdd(&listed, 1u);
  if (at < ${KEPT}u) { atomicStore(&bins[at], key); atomicStore(&bins[${KEPT}u + at], place); }
}
`

/** Where equals of the last key are too many to list, those that stand first in the row: each thread looks at neighbours. */
const SEARCHED = 8
const EQUALS = `    for (var start = 0u; start < length && taken < first; start += ${SEARCHED * THREADS}u) {
      var own = 0u;
      for (var j = 0u; j < ${SEARCHED}u; j++) {
        let i = start + lane * ${SEARCHED}u + j;
        if (i < length && element(base + i) == prefix) { own |= 1u << j; }
      }
      var rank = taken + ahead_of(countOneBits(own), lane);
      for (var j = 0u; j < ${SEARCHED}u; j++) {
        if ((own & (1u << j)) == 0u) { continue; }
        if (rank < first) { atomicStore(&bins[rank], prefix); atomicStore(&bins[${KEPT}u + rank], start + lane * ${SEARCHED}u + j); }
        rank++;
      }
      if (lane == ${THREADS - 1}u) { found.x = rank; }
      taken = workgroupUniformLoad(&found).x;
    }
`

/** Threads that compare a candidate with the others. */
const SHARES = 4
/** Elements from which on the candidates are sorted rather than compared with each other. */
const MOST_RANKED = 128

/** Elements that are all candidates. */
const MOST_COMPARED = 256

/** Elements of a part of a row, and parts of a row at most, or of one or two rows, which leave a device idle, of all; rows and elements up to which that is known to be faster than counts of all workgroups. */
const PART = 4096
const MOST_PARTS = 128
const PARTS_OF_ALL = 384
/** More than FEW elements: how many at most, of rows of how many at least, also for each of them, and elements times those selected up to which one workgroup soon has what parts leave. */
const MORE = { first: 400, least: 10 * PART, ofEach: 64, left: 48 * 2 ** 20 }
const FEW_ROWS = 32
const MOST_ELEMENTS = 2 ** 23

/** About as many elements as the parts leave of the row. */
const partSize = (rows: number, length: number, first: number): number => Math.ceil(Math.max(PART, Math.sqrt(length * first), length / Math.max(MOST_PARTS, Math.floor(PARTS_OF_ALL / rows))) / 4) * 4

/** Whether workgroups select the first of parts of each row, from which others select those of the row. */
export const isSelectedByPart = (rows: number, length: number, first: number): boolean =>
  rows < FEW_ROWS && rows * length <= MOST_ELEMENTS && (first <= FEW ? length > 2 * PART : first <= MORE.first && length >= Math.max(MORE.least, MORE.ofEach * first) && length * first <= MORE.left)

/** The first of each of some long rows: those of their parts, which keep their order, and then of these. */
export function selectByPart(descending: boolean, rows: number, length: number, first: number, x: Source, to: Sorted, device: Pick<KernelShape, 'subgroups'>): Program {
  const parts = Math.ceil(length / partSize(rows, length, first))
  // The last part has as many as are selected.
  const even = Math.ceil(length / parts / 4) * 4
  const [values, places] = [{ scratch: 0 }, { scratch: 1 }]
  const best = selectByRow(descending, rows, length, first, x, { values, places, type: 'f32' }, device, { parts, size: even })
  const last = selectByRow(descending, rows, parts * first, first, { x: values, type: 'f32' }, to, device, { placesOf: places })
  const bytes = 4 * rows * parts * first
  return { scratchBytes: [bytes, bytes], steps: [...best.steps, ...last.steps] }
}

/** Parts of each row, each of which has first elements of its own, and their size; or where the places of a row's elements are. */
interface Parted {
  parts?: number
  size?: number
  placesOf?: BufferName
}

/**
 * The first of each row, which a workgroup finds by itself: keys are counted by digits from the top until those up to the digits of the last are
 * few. These are listed, counted by further digits while they are many, and stand behind as many as are in front of them. Of few, the first key of each thread says
 * where they end, without counts of the others.
 */
export function selectByRow(descending: boolean, rows: number, length: number, first: number, { x, type }: Source, to: Sorted, { subgroups }: Pick<KernelShape, 'subgroups'>, { parts = 1, size = length, placesOf }: Parted = {}): Program {
  const width = widthFor(length)
  const sides = width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  // Vectors behind the last one are read again and dropped.
  const together = numbers(Math.min(AT_ONCE, Math.ceil(size / width / THREADS)))
  const reads = (indent: string) => together.map((u) => `${indent}let vector_${u} = x[base / ${width}u + min(i + ${u * THREADS}u, vectors - 1u)];`).join('\n')
  /** Whether threads keep what they read. */
  const isKept = size <= together.length * width * THREADS
  const keys = (use: (key: string, place: string) => string) => `  ${isKept ? '{' : `for (var i = lane; i < vectors; i += ${together.length * THREADS}u) {\n${reads('    ')}`}
${together.map((u) => `    if (i + ${u * THREADS}u < vectors) {\n${sides.map((side, j) => `      { let key = key_of(f32(vector_${u}${side})); ${use('key', `(i + ${u * THREADS}u) * ${width}u + ${j}u`)} }`).join('\n')}\n    }`).join('\n')}
  }`
  const held = numbers(KEPT / THREADS)
  const few = first <= FEW
  // Few elements are all compared with each other.
  const areAll = size <= MOST_COMPARED
  const isFew = first <= FEWER && !areAll
  const written = `values[group * first + rank] = ${storage(to.type, 1)}(value_of(key)); indices[group * first + rank] = ${placesOf === undefined ? 'i32(begin + place)' : 'places_of[base + place]'};`
  const rankedCandidates = () => `${areAll ? '' : `  while (count > ${Math.max(RANKED, Math.ceil(first * 1.25))}u && shift > 0u) {
    let bits = min(shift, ${DIGIT_BITS}u);
    let next = shift - bits;
${held.map((k) => `    let in_${k} = lane + ${k * THREADS}u < count; let key_${k} = atomicLoad(&bins[lane + ${k * THREADS}u]); let at_${k} = atomicLoad(&bins[${KEPT}u + lane + ${k * THREADS}u]);`).join('\n')}
    clear(lane);
${held.map((k) => `    if (in_${k} && (shift == 32u || (key_${k} >> (shift & 31u)) == prefix)) { atomicAdd(&bins[(key_${k} >> next) & ((1u << bits) - 1u)], 1u); }`).join('\n')}
    let state = seek(first, ahead, lane);
    prefix = (prefix << bits) | state.x;
    ahead = state.y;
    count = state.z;
    shift = next;
${held.map((k) => `    if (in_${k} && (key_${k} >> shift) <= prefix) { list(key_${k}, at_${k}); }`).join('\n')}
    workgroupBarrier();
  }
`}  for (var start = 0u; start < count; start += ${THREADS / SHARES}u) {
    let i = min(start + lane / ${SHARES}u, count - 1u);
    let key = atomicLoad(&bins[i]);
    let place = atomicLoad(&bins[${KEPT}u + i]);
    var own = 0u;
    for (var j = lane % ${SHARES}u * ${AT_ONCE}u; j < count; j += ${AT_ONCE * SHARES}u) {
${numbers(AT_ONCE).map((u) => `      let other_${u} = atomicLoad(&bins[min(j + ${u}u, count - 1u)]); let at_${u} = atomicLoad(&bins[${KEPT}u + min(j + ${u}u, count - 1u)]);`).join('\n')}
${numbers(AT_ONCE).map((u) => `      own += select(0u, 1u, j + ${u}u < count && (other_${u} < key || (other_${u} == key && at_${u} < place)));`).join('\n')}
    }
    let rank = reduce_rank(own, lane);
    if (lane % ${SHARES}u == 0u && start + lane / ${SHARES}u < count && rank < first) { ${written} }
  }`
  const wgsl = `${header([{ name: 'x', type: storage(type, width) }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }, ...(placesOf === undefined ? [] : [{ name: 'places_of', type: 'i32' }])], type === 'f16' || to.type === 'f16', subgroups !== undefined)}${keyFunctions(descending)}${candidateMemory(THREADS, subgroups)}${LISTING}${exchange(THREADS, 'u32')}${reduction('rank', SHARES, (a, b) => `${a} + ${b}`, subgroups, 'u32')}${isFew ? `${reduction('first', THREADS / powerOfTwoFrom(first), SMALLER, subgroups, 'u32')}${reduction('last', THREADS, LARGER, subgroups, 'u32')}` : ''}
fn element(at: u32) -> u32 { return key_of(f32(x[at${width === 4 ? ' / 4u][at % 4u' : ''}])); }
${entry(`  if (group >= dim(0u)) { return; }
  ${parts === 1 ? `const length = ${length}u;
  const begin = 0u;` : `let begin = group % ${parts}u * ${size}u;
  let length = min(${size}u, ${length}u - begin);`}
  ${parts === 1 ? 'const' : 'let'} vectors = length / ${width}u;
  const first = ${first}u;
  let base = group / ${parts}u * ${length}u + begin;
  var prefix = 0u;
  var shift = 32u;
  var ahead = 0u;
  var count = ${KEPT + 1}u;
${isKept ? `  let i = lane;\n${reads('  ')}` : ''}
${areAll ? `  if (lane == 0u) { atomicStore(&listed, 0u); }
  workgroupBarrier();
${keys((key, place) => `list(${key}, ${place});`)}
  workgroupBarrier();
  count = length;` : few ? `  var least = 0xffffffffu;
${keys((key) => `least = min(least, ${key});`)}
${isFew ? `  // As many threads' first keys as are selected, each of other threads: up to the last of them there are enough.
  let end = reduce_last(reduce_first(least, lane), lane);
  if (lane == 0u) { atomicStore(&listed, 0u); }
  workgroupBarrier();
${keys((key, place) => `if (${key} <= end) { list(${key}, ${place}); }`)}` : `  clear(lane);
  atomicAdd(&bins[least >> ${32 - DIGIT_BITS}u], 1u);
  let end = seek(first, 0u, lane).x;
${keys((key, place) => `if ((${key} >> ${32 - DIGIT_BITS}u) <= end) { list(${key}, ${place}); }`)}`}
  workgroupBarrier();
  if (lane == 0u) { found.x = atomicLoad(&listed); }
  count = workgroupUniformLoad(&found).x;` : ''}
  if (count > ${KEPT}u) {
    loop {
      let bits = min(shift, ${DIGIT_BITS}u);
      let next = shift - bits;
      clear(lane);
${keys((key) => `if (shift == 32u || (${key} >> (shift & 31u)) == prefix) { atomicAdd(&bins[(${key} >> next) & ((1u << bits) - 1u)], 1u); }`)}
      let state = seek(first, ahead, lane);
      prefix = (prefix << bits) | state.x;
      ahead = state.y;
      count = state.z;
      shift = next;
      if (count <= ${KEPT}u || shift == 0u) { break; }
    }
    let is_whole = count <= ${KEPT}u;
${keys((key, place) => `{ let digits = ${key} >> shift; if (digits < prefix || (digits == prefix && is_whole)) { list(${key}, ${place}); } }`)}
    if (!is_whole) {
    var taken = ahead;
    workgroupBarrier();
${EQUALS}    count = first;
    shift = 0u;
    }
    workgroupBarrier();
  }
${first > MOST_RANKED ? sortedCandidates(THREADS, written) : rankedCandidates()}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [x, to.values, to.places, ...(placesOf === undefined ? [] : [placesOf])], [rows * parts], rows * parts)] }
}
