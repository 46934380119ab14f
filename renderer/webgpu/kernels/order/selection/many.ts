import { entry, header, numbers, step, storage, THREADS, widthFor } from '../../../wgsl/header'
import type { BufferName, DeviceLimits, Program, Step } from '../../types'
import { keyFunctions } from '../keys'
import type { Sorted, Source } from '../network'
import { sortDigits } from '../radix'
import { boundAt, findBounds, PLACE, planBounds, type BoundPlan } from './bounded'
import { candidateMemory, DIGIT_BITS, eachKey, KEPT, LISTED, listing, refining, refiningSorted, threadsOf } from './candidates'

/**
 * The first of long rows, up to thousands of them: candidates, not many more than are selected, are listed in the order of their places and narrowed down by digits of their keys (radix selection: Alabi
 * et al. 2012). As many as a workgroup keeps are sorted where they are; more of them are sorted as rows of their own. One workgroup does that for a row, and finds the candidates by digits as well; of few
 * long rows, several find them by a bound.
 */

/** Elements of a row, at least, for each that is selected of more than a workgroup keeps; of fewer, and of short rows, sorting is faster. */
const TIMES = 3
const SHORTEST = 3841
/** Rows from which on each has one workgroup, however long, and longest of fewer rows that have. */
const MANY_ROWS = 96
const LONGEST_ALONE = 2 ** 16
/** Rows of how many elements, by how many there are at least, of which that is faster than merging parts; of as many as are selected at most. */
const NOT_MERGED = [{ rows: 128, length: SHORTEST, selected: Infinity }, { rows: 64, length: 8192, selected: Infinity }, { rows: 20, length: 16_384, selected: KEPT }] as const
/** Rows from which on each has one workgroup where a bound needs more groups of elements than there are. */
const ROWS_UNBOUNDED = 32

const planAlone = (rows: number, length: number): boolean => rows >= MANY_ROWS || length <= LONGEST_ALONE

/** Whether a workgroup for each row selects the first faster than parts of the row, from which these are merged or selected. */
export const isFasterThanParts = (rows: number, length: number, first: number): boolean =>
  planAlone(rows, length) && NOT_MERGED.some((least) => rows >= least.rows && length >= least.length && first <= least.selected)

/** Whether the first of each row are selected so, where a workgroup does not select them in its memory. `isMerged`: whether they may be sorted by parts. */
export const isSelected = (rows: number, length: number, first: number, isMerged: boolean): boolean =>
  length >= SHORTEST && (first <= KEPT || first * TIMES <= length) && (!isMerged || isFasterThanParts(rows, length, first)) && (planAlone(rows, length) || rows >= ROWS_UNBOUNDED || planParts(rows, length, first) !== undefined)

const LIST = [{ name: 'list_keys', type: 'u32', write: true }, { name: 'list_places', type: 'u32', write: true }]

/** Where the first of a row go: in any order as f32, or sorted. */
interface Chosen {
  values: BufferName
  indices: BufferName
  sorted?: Sorted['type']
}
const chosenOf = ({ sorted = 'f32' }: Chosen) => [{ name: 'values', type: storage(sorted, 1), write: true }, { name: 'indices', type: 'i32', write: true }]
const lastOf = (threads: number, length: number, first: number, { sorted }: Chosen): string =>
  sorted === undefined
    ? refining(threads, length, first, (rank, key, place) => `values[row * first + ${rank}] = value_of(${key}); indices[row * first + ${rank}] = i32(${place});`)
    : refiningSorted(threads, length, `values[row * first + rank] = ${storage(sorted, 1)}(value_of(key)); indices[row * first + rank] = i32(place);`)

/** A row by a workgroup. */
function chooseOfRows(descending: boolean, rows: number, length: number, first: number, { x, type }: Source, keys: BufferName, places: BufferName, to: Chosen, device: DeviceLimits): Step {
  const threads = threadsOf(device.threads)
  const width = widthFor(length)
  // Another digit of all elements costs less than that of many candidates.
  const enough = first + Math.max(first, Math.floor(length / 8))
  const wgsl = `${header([{ name: 'x', type: storage(type, width) }, ...LIST, ...chosenOf(to)], type === 'f16' || to.sorted === 'f16', device.subgroups !== undefined)}${keyFunctions(descending)}${candidateMemory(threads, device.subgroups)}${LISTED}
${entry(`  let row = group;
  if (row >= dim(0u)) { return; }
  const first = ${first}u;
  let base = row * ${length}u;
  let list_at = base;
  const begin = 0u;
  const end = ${length}u;
  var prefix = 0u;
  var shift = 32u;
  var ahead = 0u;
  var upto = end;
  loop {
    let bits = min(shift, ${DIGIT_BITS}u);
    let next = shift - bits;
    clear(lane);
${eachKey(width, threads, 'begin', 'end', (key) => `if (shift == 32u || (${key} >> (shift & 31u)) == prefix) { atomicAdd(&bins[(${key} >> next) & ((1u << bits) - 1u)], 1u); }`)}    let state = find(first, ahead, lane);
    prefix = (prefix << bits) | state.x;
    ahead = state.y;
    upto = state.z;
    shift = next;
    if (upto <= ${enough}u || shift == 0u) { break; }
  }
${listing(width, threads, length)}${lastOf(threads, length, first, to)}`, threads)}`
  return step(wgsl, [x, keys, places, to.values, to.indices], [rows], rows)
}

/** Workgroups that fill a device, and elements that are worth one: whole vectors of all threads. */
const FILLED = 1056
const LEAST_ELEMENTS = 2048
const GRANULE = 4 * THREADS

/** Parts of each row that have a bound: as many as fill a device. Undefined where they are too few for as many as are selected. */
function planParts(rows: number, length: number, first: number): { parts: number; size: number; bound: BoundPlan } | undefined {
  const size = Math.ceil(length / Math.max(1, Math.min(Math.ceil(FILLED / rows), Math.floor(length / LEAST_ELEMENTS))) / GRANULE) * GRANULE
  const parts = Math.ceil(length / size)
  const bound = planBounds(rows, parts, size, first)
  return bound && { parts, size, bound }
}

/** Each part lists its candidates where its elements are, and how many. Buffers: x, first keys and bounds, lists, lengths. */
function listOfParts(descending: boolean, type: Source['type'], dims: readonly number[], bounds: number, buffers: readonly BufferName[], { subgroups }: DeviceLimits): Step {
  const [rows, length, parts, size] = dims as [number, number, number, number]
  const width = widthFor(length)
  const wgsl = `${header([{ name: 'x', type: storage(type, width) }, { name: 'firsts', type: 'u32' }, ...LIST, { name: 'lengths', type: 'u32', write: true }], type === 'f16', subgroups !== undefined)}${keyFunctions(descending)}${candidateMemory(THREADS, subgroups)}
${entry(`${PLACE}
  let prefix = firsts[${bounds}u + row];
  // Each thread has the elements whose first key it left.
  let own = firsts[group * ${THREADS}u + lane];
  const shift = 0u;
  let list_at = base + begin;
${listing(width, THREADS, size, 'own <= prefix')}  if (lane == 0u) { lengths[group] = count; }`)}`
  return step(wgsl, buffers, dims, rows * parts)
}

/** Lists of parts behind each other. Buffers: lengths, lists, those of whole rows, and their lengths. */
function gather(dims: readonly number[], buffers: readonly BufferName[]): Step {
  const [rows, , parts] = dims as [number, number, number]
  const wgsl = `${header([{ name: 'lengths', type: 'u32' }, { name: 'keys', type: 'u32' }, { name: 'places', type: 'u32' }, ...LIST, { name: 'totals', type: 'u32', write: true }], false)}
var<workgroup> before: atomic<u32>;
${entry(`${PLACE}
  let part = group % dim(2u);
  if (lane == 0u) { atomicStore(&before, 0u); }
  workgroupBarrier();
  var own = 0u;
  for (var p = lane; p < part; p += ${THREADS}u) { own += lengths[row * dim(2u) + p]; }
  if (own > 0u) { atomicAdd(&before, own); }
  workgroupBarrier();
  let to = base + atomicLoad(&before);
  let count = lengths[group];
  for (var c = lane; c < count; c += ${THREADS}u) { list_keys[to + c] = keys[base + begin + c]; list_places[to + c] = places[base + begin + c]; }
  if (lane == 0u && part == dim(2u) - 1u) { totals[row] = to - base + count; }`)}`
  return step(wgsl, buffers, dims, rows * parts)
}

/** Of the list of each row those selected, by a workgroup. Buffers: totals, lists. */
function refineLists(descending: boolean, rows: number, length: number, first: number, buffers: readonly BufferName[], to: Chosen, device: DeviceLimits): Step {
  const threads = threadsOf(device.threads)
  const wgsl = `${header([{ name: 'totals', type: 'u32' }, ...LIST.map(({ name, type }) => ({ name, type })), ...chosenOf(to)], to.sorted === 'f16', device.subgroups !== undefined)}${keyFunctions(descending)}${candidateMemory(threads, device.subgroups)}${LISTED}
${entry(`  let row = group;
  if (row >= dim(0u)) { return; }
  const first = ${first}u;
  let list_at = row * ${length}u;
  var count = totals[row];
  var prefix = 0u;
  var shift = 32u;
  var ahead = 0u;
  var upto = count;
${lastOf(threads, length, first, to)}`, threads)}`
  return step(wgsl, [...buffers, to.values, to.indices], [rows], rows)
}

/** The first of each row, by steps whose scratch space is theirs from `at` on. */
function choose(descending: boolean, rows: number, length: number, first: number, x: Source, to: Chosen, at: number, device: DeviceLimits): Program {
  const list = 4 * rows * length
  const [keys, places, rowKeys, rowPlaces, lengths, totals, firsts] = numbers(7).map((i): BufferName => ({ scratch: at + i })) as [BufferName, BufferName, BufferName, BufferName, BufferName, BufferName, BufferName]
  const plan = planAlone(rows, length) ? undefined : planParts(rows, length, first)
  if (!plan) return { scratchBytes: [list, list], steps: [chooseOfRows(descending, rows, length, first, x, keys, places, to, device)] }
  const { parts, size, bound } = plan
  const dims = [rows, length, parts, size, first]
  return {
    scratchBytes: [list, list, list, list, 4 * rows * parts, 4 * rows, bound.bytes],
    steps: [
      ...findBounds(descending, x, dims, bound, firsts, device),
      listOfParts(descending, x.type, dims, boundAt(rows, parts, bound), [x.x, firsts, keys, places, lengths], device),
      gather(dims, [lengths, keys, places, rowKeys, rowPlaces, totals]),
      refineLists(descending, rows, length, first, [totals, rowKeys, rowPlaces], to, device),
    ],
  }
}

/** The first of each row of x, sorted. */
export function selectFirst(descending: boolean, rows: number, length: number, first: number, x: Source, to: Sorted, device: DeviceLimits): Program {
  if (first <= KEPT) return choose(descending, rows, length, first, x, { values: to.values, indices: to.places, sorted: to.type }, 0, device)
  const chosen = [{ scratch: 0 }, { scratch: 1 }] as const
  const { scratchBytes, steps } = choose(descending, rows, length, first, x, { values: chosen[0], indices: chosen[1] }, chosen.length, device)
  const own = [...chosen.map(() => 4 * rows * first), ...scratchBytes]
  const sorted = sortDigits(descending, rows, first, first, { x: { input: 0 }, type: 'f32' }, to, device, { input: 1 })
  // The chosen are the inputs of that, and its scratch space lies behind theirs.
  const named = (name: BufferName): BufferName => (typeof name === 'string' || 'output' in name ? name : 'input' in name ? chosen[name.input]! : { scratch: own.length + name.scratch })
  return { scratchBytes: [...own, ...sorted.scratchBytes], steps: [...steps, ...sorted.steps.map((one) => ({ ...one, buffers: one.buffers.map(named) }))] }
}
