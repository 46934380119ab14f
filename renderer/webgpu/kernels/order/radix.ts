import { entry, header, numbers, step, storage, THREADS, type Binding } from '../../wgsl/header'
import type { BufferName, DeviceLimits, Program, Step } from '../types'
import { keyFunctions, lowestBit } from './keys'
import type { Sorted } from './network'
import { partOf, sortByParts } from './parts'
import { apart, memoryText, ranked, usesSubgroups } from './ranked'

/**
 * Sorting by digits of the keys, from the lowest (least significant digit first: Knuth 1973, 5.2.5): for each digit of eight bits, every
 * part of a row is counted, the counts of parts and digits in front are added up, and each part is sorted by the digit in workgroup memory
 * and written where it belongs. Parts are sorted by two halves of the digit, with the counters of Merrill & Grimshaw 2011.
 */

/** Keys of a thread: those of a workgroup and the counters fill the 16 KiB of workgroup memory that every adapter has. */
const EACH = 11
/** Keys of a workgroup. */
export const PART = EACH * THREADS
const DIGIT_BITS = 8
const DIGITS = 2 ** DIGIT_BITS
/** Bits of a key's place in its part. */
const PLACE_BITS = 12
/** Parts of a row up to which a workgroup adds up by itself what the parts before it counted. */
export const FEW_PARTS = 32
/** Counts that a thread reads before it adds any of them. */
const AT_ONCE = 8

const each = (text: (k: number) => string): string => numbers(EACH).map((k) => `  ${text(k)}`).join('\n')

/** The part of its row that a workgroup has. dims: rows, length, parts of a row, lowest bit of the digit, first. */
const PLACES = `  let parts = dim(2u);
  let row = group / parts;
  if (row >= dim(0u)) { return; }
  let part = group % parts;
  let begin = part * ${PART}u;
  let count = min(${PART}u, dim(1u) - begin);
  let base = row * dim(1u) + begin;`

/** Threads read the elements of neighbouring places, each EACH of them. */
const neighbours = (name: string): string => each((k) => `${name}${k} = exchange[lane * ${EACH}u + ${k}u];`)

/** Where a step's keys come from: elements, or keys and places that the step before left. */
type From = { x: BufferName; type: 'f32' | 'f16' } | { keys: BufferName; places: BufferName }

const bindingsOf = (from: From): Binding[] => ('x' in from ? [{ name: 'x', type: storage(from.type, 1) }] : [{ name: 'keys', type: 'u32' }, { name: 'places', type: 'u32' }])
const keyAt = (from: From, at: string): string => ('x' in from ? `key_of(f32(x[${at}]))` : `keys[${at}]`)

interface Cut {
  rows: number
  length: number
  parts: number
  first: number
}
const dimsOf = ({ rows, length, parts, first }: Cut, bit: number): number[] => [rows, length, parts, bit, first]

/** Writes how often each part has each digit, [row, part, digit]. */
function counting(descending: boolean, cut: Cut, bit: number, from: From, counts: BufferName): Step {
  const keys = bindingsOf(from).slice(0, 1)
  const wgsl = `${header([...keys, { name: 'counts', type: 'u32', write: true }], 'x' in from && from.type === 'f16')}${keyFunctions(descending)}
var<workgroup> counters: array<atomic<u32>, ${4 * DIGITS}>;
${entry(`${PLACES}
  for (var w = lane; w < ${4 * DIGITS}u; w += ${THREADS}u) { atomicStore(&counters[w], 0u); }
${each((k) => `let key${k} = ${keyAt(from, `base + min(${k * THREADS}u + lane, count - 1u)`)};`)}
  workgroupBarrier();
${each((k) => `if (${k * THREADS}u + lane < count) { atomicAdd(&counters[((key${k} >> dim(3u)) & ${DIGITS - 1}u) * 4u + lane % 4u], 1u); }`)}
  workgroupBarrier();
  counts[group * ${DIGITS}u + lane] = ${numbers(4).map((j) => `atomicLoad(&counters[lane * 4u + ${j}u])`).join(' + ')};`)}`
  return step(wgsl, ['x' in from ? from.x : from.keys, counts], dimsOf(cut, bit), cut.rows * cut.parts)
}

/** Digits of a workgroup, and rows of threads that share the parts. */
const BESIDE = 8
const BELOW = THREADS / BESIDE

/** Turns the counts of each digit into those of the parts before, and writes their sums. */
function adding({ rows, parts }: Cut, counts: BufferName, totals: BufferName): Step {
  const read = numbers(AT_ONCE).map((j) => `    let c${j} = select(0u, counts[base + min(p + ${j}u, parts - 1u) * ${DIGITS}u], p + ${j}u < end);`).join('\n')
  const wgsl = `${header([{ name: 'counts', type: 'u32', write: true }, { name: 'totals', type: 'u32', write: true }], false)}
var<workgroup> sums: array<u32, ${THREADS}>;
${entry(`  let parts = dim(1u);
  let row = group / ${DIGITS / BESIDE}u;
  if (row >= dim(0u)) { return; }
  let digit = group % ${DIGITS / BESIDE}u * ${BESIDE}u + lane % ${BESIDE}u;
  let base = row * parts * ${DIGITS}u + digit;
  let begin = lane / ${BESIDE}u * dim(2u);
  let end = min(begin + dim(2u), parts);
  var sum = 0u;
  for (var p = begin; p < end; p += ${AT_ONCE}u) {
${read}
    sum += ${numbers(AT_ONCE).map((j) => `c${j}`).join(' + ')};
  }
  sums[lane] = sum;
  workgroupBarrier();
  var ahead = 0u;
  for (var j = lane % ${BESIDE}u; j < lane; j += ${BESIDE}u) { ahead += sums[j]; }
  if (lane / ${BESIDE}u == ${BELOW - 1}u) { totals[row * ${DIGITS}u + digit] = ahead + sum; }
  for (var p = begin; p < end; p += ${AT_ONCE}u) {
${read}
${numbers(AT_ONCE).map((j) => `    if (p + ${j}u < end) { counts[base + (p + ${j}u) * ${DIGITS}u] = ahead; } ahead += c${j};`).join('\n')}
  }`)}`
  return step(wgsl, [counts, totals], [rows, parts, Math.ceil(parts / BELOW)], (rows * DIGITS) / BESIDE)
}

/** Where a step's keys go: to the next digit, or as values and places of the first of each row. */
type To = { keys: BufferName; places: BufferName } | Sorted

const targets = (to: To): Binding[] => ('keys' in to ? [{ name: 'keys_out', type: 'u32', write: true }, { name: 'places_out', type: 'u32', write: true }] : [{ name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }])
const buffersOf = (ends: From | To): BufferName[] => ('x' in ends ? [ends.x] : 'keys' in ends ? [ends.keys, ends.places] : [ends.values, ends.places])
const isF16 = (from: From, to: To): boolean => ('x' in from && from.type === 'f16') || ('values' in to && to.type === 'f16')

/** Sorts each part by the digit and writes its elements behind those of smaller digits and of parts before it. Without `totals`, it adds up the counts itself. */
function scattering(descending: boolean, cut: Cut, bit: number, from: From, to: To, counts: BufferName, totals: BufferName | undefined, { subgroups }: DeviceLimits, placesOf?: BufferName): Step {
  const carried = !('x' in from)
  const key = (value: string, k: number) => ('keys' in to ? `keys_out[row * dim(1u) + at${k}] = ${value};` : `values[row * dim(4u) + at${k}] = ${storage(to.type, 1)}(value_of(${value}));`)
  const place = (value: string, k: number) => ('keys' in to ? `places_out[row * dim(1u) + at${k}] = ${value};` : `indices[row * dim(4u) + at${k}] = i32(${value});`)
  const written = (k: number) => `${k * THREADS}u + lane < count${'keys' in to ? '' : ` && at${k} < dim(4u)`}`
  const ahead = totals
    ? `  let total = totals[row * ${DIGITS}u + lane];
  let ahead_in_digit = counts[group * ${DIGITS}u + lane];`
    : `  var total = 0u;
  var ahead_in_digit = 0u;
  for (var p = 0u; p < parts; p += ${AT_ONCE}u) {
${numbers(AT_ONCE).map((j) => `    let c${j} = select(0u, counts[(row * parts + min(p + ${j}u, parts - 1u)) * ${DIGITS}u + lane], p + ${j}u < parts);`).join('\n')}
${numbers(AT_ONCE).map((j) => `    total += c${j}; ahead_in_digit += select(0u, c${j}, p + ${j}u < part);`).join('\n')}
  }`
  const wgsl = `${header([...bindingsOf(from), { name: 'counts', type: 'u32' }, ...(totals ? [{ name: 'totals', type: 'u32' }] : []), ...targets(to), ...(placesOf === undefined ? [] : [{ name: 'places_of', type: 'i32' }])], isF16(from, to), usesSubgroups(THREADS, subgroups))}${keyFunctions(descending)}${memoryText(apart(PART), subgroups)}
${entry(`${PLACES}
${each((k) => `let i${k} = ${k * THREADS}u + lane; let key${k} = select(0xffffffffu, ${keyAt(from, `base + min(i${k}, count - 1u)`)}, i${k} < count);${carried ? ` let place${k} = places[base + min(i${k}, count - 1u)];` : ''}`)}
${ahead}
  let start = ahead_of(total, lane) + ahead_in_digit;
  workgroupBarrier();
  // The digit and the place of each key: places of the padding are the last.
${each((k) => `exchange[i${k}] = (((key${k} >> dim(3u)) & ${DIGITS - 1}u) << ${PLACE_BITS}u) | i${k};`)}
  workgroupBarrier();
${each((k) => `var e${k} = 0u;`)}
  for (var half = ${PLACE_BITS}u; half < ${PLACE_BITS + DIGIT_BITS}u; half += ${DIGIT_BITS / 2}u) {
${neighbours('e')}
${ranked((k) => `e${k} >> half`, apart(PART), EACH)}
${each((k) => `exchange[r${k}] = e${k};`)}
    workgroupBarrier();
  }
${each((k) => `e${k} = exchange[i${k}]; if (i${k} == 0u || (e${k} >> ${PLACE_BITS}u) != (exchange[max(i${k}, 1u) - 1u] >> ${PLACE_BITS}u)) { bases[e${k} >> ${PLACE_BITS}u] = i${k}; }`)}
  workgroupBarrier();
  bases[lane] = start - bases[lane];
${each((k) => `exchange[i${k}] = key${k};`)}
  workgroupBarrier();
${each((k) => `let at${k} = bases[e${k} >> ${PLACE_BITS}u] + i${k}; let from${k} = e${k} & ${2 ** PLACE_BITS - 1}u; if (${written(k)}) { ${key(`exchange[from${k}]`, k)}${carried ? '' : ` ${place(placesOf === undefined ? `begin + from${k}` : `u32(places_of[base + from${k}])`, k)}`} }`)}
${carried ? `  workgroupBarrier();
${each((k) => `exchange[i${k}] = place${k};`)}
  workgroupBarrier();
${each((k) => `if (${written(k)}) { ${place(`exchange[from${k}]`, k)} }`)}` : ''}`)}`
  return step(wgsl, [...buffersOf(from), counts, ...(totals ? [totals] : []), ...buffersOf(to), ...(placesOf === undefined ? [] : [placesOf])], dimsOf(cut, bit), cut.rows * cut.parts)
}

/** The first of each row of x, sorted by digits. */
export function sortDigits(descending: boolean, rows: number, length: number, first: number, x: Extract<From, { x: BufferName }>, to: Sorted, device: DeviceLimits, placesOf?: BufferName): Program {
  const parts = Math.ceil(length / PART)
  const cut = { rows, length, parts, first }
  const longest = partOf(rows, length, device)
  if (longest !== undefined) return sortByParts(descending, rows, length, first, longest, x, to, device, placesOf)
  const bytes = 4 * rows * length
  const [counts, totals] = [{ scratch: 4 }, parts > FEW_PARTS ? { scratch: 5 } : undefined]
  const steps: Step[] = []
  let from: From = x
  for (let bit = Math.floor(lowestBit(x.type) / DIGIT_BITS) * DIGIT_BITS, turn = 0; bit < 32; bit += DIGIT_BITS, turn = 2 - turn) {
    const next = { keys: { scratch: turn }, places: { scratch: turn + 1 } }
    steps.push(counting(descending, cut, bit, from, counts))
    if (totals) steps.push(adding(cut, counts, totals))
    steps.push(scattering(descending, cut, bit, from, bit + DIGIT_BITS < 32 ? next : to, counts, totals, device, 'x' in from ? placesOf : undefined))
    from = next
  }
  return { scratchBytes: [bytes, bytes, bytes, bytes, 4 * rows * parts * DIGITS, ...(totals ? [4 * rows * DIGITS] : [])], steps }
}
