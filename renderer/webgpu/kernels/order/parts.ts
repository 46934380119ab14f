import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import type { BufferName, DeviceLimits, Program, Step } from '../types'
import { keyFunctions, lowestBit } from './keys'
import type { Sorted } from './network'
import { apart, inTurn, memoryText, ranked, usesSubgroups } from './ranked'

/**
 * Rows of a few parts, each of them sorted by a workgroup by all digits of four bits of its keys. The parts of a row are merged by rank: an
 * element stands behind as many as are in front of it in its own part and, by binary search, in the others.
 */

/** Keys of a thread. Odd, so that threads that read neighbours meet different banks; a byte counts those of fifteen threads in front of another. */
const HELD = [5, 7, 9, 11, 13, 15, 17]
/** Keys of a workgroup that fit 16 KiB of workgroup memory together with the counters; more of them take turns with these. */
const APART = 11 * THREADS
/** Keys of a workgroup at most, in that memory. */
export const LONGEST_PART = 15 * THREADS

/** Workgroups of more threads and memory, for many rows, whose parts need not be merged then, and for rows of many parts. */
const LARGE = { threads: 512, longest: 17 * 512, rows: 96 }
const hasLarge = ({ threads = THREADS, workgroupBytes = 0 }: DeviceLimits): boolean => threads >= LARGE.threads && workgroupBytes >= 4 * LARGE.longest

/** Parts of a row that are merged whatever the number of rows; more of them up to so many elements, where passes over the digits wait for each other. */
const FEW_MERGED = 4
const MOST_MERGED = 8
const MOST_ELEMENTS_MERGED = 3 * 2 ** 19
/** Parts of a row, of which only the first elements are merged, and the reads of all searches, up to which that is faster than selection. */
const MOST_PARTS_OF_FIRST = 32
const MOST_OF_FIRST = LONGEST_PART / 2
const MOST_SEARCHED = 2 ** 24

/** Elements of a part at most where rows are sorted by parts, which are merged: undefined where they are not. */
export function partOf(rows: number, length: number, device: DeviceLimits): number | undefined {
  const large = hasLarge(device)
  if (large && rows >= LARGE.rows && length <= LARGE.longest) return length <= LONGEST_PART ? LONGEST_PART : LARGE.longest
  const parts = Math.ceil(length / LONGEST_PART)
  if (parts <= FEW_MERGED || (parts <= MOST_MERGED && rows * length <= MOST_ELEMENTS_MERGED)) return LONGEST_PART
  return large && length <= FEW_MERGED * LARGE.longest ? LARGE.longest : undefined
}

/** Elements of a part at most where the first of rows are sorted by parts: undefined where they are not. */
export function partOfFirst(rows: number, length: number, first: number, device: DeviceLimits): number | undefined {
  const parts = Math.ceil(length / LONGEST_PART)
  const searched = rows * parts * parts * first * Math.log2(first)
  const isMerged = first <= MOST_OF_FIRST && rows < LARGE.rows && parts <= MOST_PARTS_OF_FIRST && rows * length <= MOST_ELEMENTS_MERGED && searched <= MOST_SEARCHED
  return isMerged ? LONGEST_PART : partOf(rows, length, device)
}

/** Parts that fill any device known here: each of fewer threads then, which scan as many counters each for more keys. */
const MANY_PARTS = 528
const FEWEST_THREADS = 128

/** Threads of a workgroup, and keys that each has, for `parts` of `size` keys. */
export function sharedBy(parts: number, size: number): { threads: number; held: number } {
  for (let threads = parts >= MANY_PARTS ? FEWEST_THREADS : THREADS; ; threads *= 2) {
    const held = HELD.find((count) => count * threads >= size && (threads !== THREADS || count * threads <= LONGEST_PART))
    if (held !== undefined) return { threads, held }
  }
}

/** Bits of a key's place in its part at least. Keys are sorted by their low bits and then by the others, each beside the place in one word. */
const PLACE_BITS = 12

interface Elements {
  x: BufferName
  type: 'f32' | 'f16'
}
interface Cut {
  rows: number
  length: number
  parts: number
  /** Elements of a part; the last may have fewer. */
  size: number
  first: number
  /** Where the places of the elements are, where these are not those of the row. */
  placesOf?: BufferName | undefined
}

/** Elements of a part that may be among the first of the row: those that are merged. */
const mergedOf = ({ size, first }: Cut): number => Math.min(size, first)

/** Other parts that a thread searches together. */
const SEARCHED_TOGETHER = 16

/** Sorts each part, for the result where a row has one, else its first for scratch 0 (keys) and 1 (places). dims: rows, length, parts, first round, size, first, those that are merged. */
function sortParts(descending: boolean, cut: Cut, x: Elements, to: Sorted, { subgroups }: DeviceLimits): Step {
  const { rows, length, parts, size, first, placesOf } = cut
  const { threads, held } = sharedBy(rows * parts, size)
  const placeBits = Math.max(PLACE_BITS, Math.ceil(Math.log2(threads * held)))
  const placeMask = 2 ** placeBits - 1
  const own = threads * held <= APART
  const m = own ? apart(held * threads, threads) : inTurn(held * threads, threads)
  const each = (text: (k: number) => string) => numbers(held).map((k) => `  ${text(k)}`).join('\n')
  const place = (at: string) => `${own ? 'exchange' : 'memory'}[${at}]`
  const read = (at: string) => m.read(place(at))
  const write = (at: string, value: string) => m.write(place(at), value)
  const turn = own ? '' : '  workgroupBarrier();\n'
  const alone = parts === 1
  const written = alone
    ? (k: number) => `if (i${k} < dim(5u)) { values[row * dim(5u) + i${k}] = ${storage(to.type, 1)}(value_of(${read(`e${k}`)})); indices[row * dim(5u) + i${k}] = ${placesOf === undefined ? `i32(e${k})` : `places_of[base + e${k}]`}; }`
    : (k: number) => `if (i${k} < dim(6u)) { keys_out[to + i${k}] = ${read(`e${k}`)}; places_out[to + i${k}] = ${placesOf === undefined ? `begin + e${k}` : `u32(places_of[base + e${k}])`}; }`
  const targets = alone ? [{ name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }] : [{ name: 'keys_out', type: 'u32', write: true }, { name: 'places_out', type: 'u32', write: true }]
  const wgsl = `${header([{ name: 'x', type: storage(x.type, 1) }, ...targets, ...(placesOf === undefined ? [] : [{ name: 'places_of', type: 'i32' }])], x.type === 'f16' || (alone && to.type === 'f16'), usesSubgroups(threads, subgroups))}${keyFunctions(descending)}${memoryText(m, subgroups)}
${entry(`  let row = group / dim(2u);
  if (row >= dim(0u)) { return; }
  let begin = group % dim(2u) * dim(4u);
  let count = min(dim(4u), dim(1u) - begin);
  let base = row * dim(1u) + begin;
${alone ? '' : '  let to = group * dim(6u);\n'}${each((k) => `let i${k} = ${k * threads}u + lane; let key${k} = select(0xffffffffu, key_of(f32(x[base + min(i${k}, count - 1u)])), i${k} < count); var e${k} = lane * ${held}u + ${k}u;`)}
  for (var round = dim(3u); round < 2u; round++) {
    workgroupBarrier();
${each((k) => write(`i${k}`, `key${k}`))}
    workgroupBarrier();
${each((k) => `{ let place = e${k} & ${placeMask}u; let key = ${read('place')}; e${k} = select(key << ${placeBits}u, key & ~${placeMask}u, round == 1u) | place; }`)}
    for (var bit = ${placeBits}u; bit < select(${2 * placeBits}u, 32u, round == 1u); bit += 4u) {
${turn}${ranked((k) => `e${k} >> bit`, m, held)}
${turn}${each((k) => write(`r${k}`, `e${k}`))}
      workgroupBarrier();
${each((k) => `e${k} = ${read(`lane * ${held}u + ${k}u`)};`)}
    }
  }
${each((k) => `e${k} = ${read(`i${k}`)} & ${placeMask}u;`)}
  workgroupBarrier();
${each((k) => write(`i${k}`, `key${k}`))}
  workgroupBarrier();
${each(written)}`, threads)}`
  return step(wgsl, [x.x, ...(alone ? [to.values, to.places] : [{ scratch: 0 }, { scratch: 1 }]), ...(placesOf === undefined ? [] : [placesOf])], [rows, length, parts, lowestBit(x.type) < placeBits ? 0 : 1, size, first, mergedOf(cut)], rows * parts)
}

/** Each of the first elements of sorted parts to its place in the row, where that is among the first. dims: rows, length, first. */
function mergeParts(descending: boolean, cut: Cut, to: Sorted): Step {
  const { rows, length, parts, size, first } = cut
  const merged = mergedOf(cut)
  // Of each other part, half of what is left at a time; what stands behind the elements of the last part is in front of nothing.
  const reaches: number[] = []
  for (let left = merged; left > 1; left -= left >> 1) reaches.push(left >> 1)
  const searches = Array.from({ length: Math.ceil((parts - 1) / SEARCHED_TOGETHER) }, (_, round) => {
    const others = numbers(parts - 1).slice(round * SEARCHED_TOGETHER, (round + 1) * SEARCHED_TOGETHER)
    const each = (text: (j: number) => string) => others.map((j) => `    ${text(j)}`).join('\n')
    return `  {
${each((j) => `let part${j} = select(own + ${j + 1}u, own - ${parts - j - 1}u, own >= ${parts - j - 1}u); let base${j} = (row * ${parts}u + part${j}) * ${merged}u; let bound${j} = key + select(0u, 1u, part${j} < own); var at${j} = base${j};`)}
${[...reaches, 1].map((reach) => each((j) => `at${j} += select(0u, ${reach}u, keys[at${j} + ${reach - 1}u] < bound${j});`)).join('\n')}
    rank += ${others.map((j) => `at${j} - base${j}`).join(' + ')};
  }`
  })
  const wgsl = `${header([{ name: 'keys', type: 'u32' }, { name: 'places', type: 'u32' }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], to.type === 'f16')}${keyFunctions(descending)}
${entry(`  let i = group * ${THREADS}u + lane;
  let row = i / ${parts * merged}u;
  let own = i / ${merged}u % ${parts}u;
  var rank = i % ${merged}u;
  if (row >= dim(0u) || own * ${size}u + rank >= dim(1u)) { return; }
  let key = keys[i];
${searches.join('\n')}
  if (rank < dim(2u)) {
    values[row * dim(2u) + rank] = ${storage(to.type, 1)}(value_of(key));
    indices[row * dim(2u) + rank] = i32(places[i]);
  }`)}`
  return step(wgsl, [{ scratch: 0 }, { scratch: 1 }, to.values, to.places], [rows, length, first], Math.ceil((rows * parts * merged) / THREADS))
}

/** The first of each row of x, by parts of up to `longest` elements. */
export function sortByParts(descending: boolean, rows: number, length: number, first: number, longest: number, x: Elements, to: Sorted, device: DeviceLimits, placesOf?: BufferName): Program {
  const parts = Math.ceil(length / longest)
  const cut = { rows, length, parts, size: Math.ceil(length / parts), first, placesOf }
  if (parts === 1) return { scratchBytes: [], steps: [sortParts(descending, cut, x, to, device)] }
  const bytes = 4 * rows * parts * mergedOf(cut)
  return { scratchBytes: [bytes, bytes], steps: [sortParts(descending, cut, x, to, device), mergeParts(descending, cut, to)] }
}
