import { entry, header, numbers, step, storage } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { KernelShape, Program } from '../types'
import { keyFunctions, lowestBit } from './keys'
import type { Sorted, Source } from './network'

/** Threads of a workgroup, those that share a row at most, and elements that a thread holds: more of the longest rows alone. */
const THREADS = 64
const MOST_LANES = 32
const HELD = [2, 4, 6, 8, 10, 12, 16]
const LONG_HELD = [20, 24, 32]
/** Shortest rows, and elements of all rows above which these are sorted so. */
const SHORTEST = 33
const FEWEST_ELEMENTS = 2 ** 18

/** How threads of a subgroup share a row of `cols` elements: undefined where they are too few. */
export function planHeld(cols: number, subgroups: number | undefined): { lanes: number; held: number } | undefined {
  if (subgroups === undefined) return undefined
  const most = Math.min(MOST_LANES, subgroups)
  for (let lanes = 1; lanes <= most; lanes *= 2) {
    const held = [...HELD, ...(lanes === most ? LONG_HELD : [])].find((count) => count * lanes >= cols)
    if (held !== undefined) return { lanes, held }
  }
  return undefined
}

/** Whether rows are sorted in registers. */
export const isHeld = (rows: number, cols: number, { subgroups }: Pick<KernelShape, 'subgroups'>): boolean =>
  cols >= SHORTEST && rows * cols > FEWEST_ELEMENTS && planHeld(cols, subgroups) !== undefined

/** Pairs of places that a network compares, the smaller first, to sort `count` elements (odd-even merges: Batcher 1968). */
export function comparisons(count: number): [number, number][] {
  const pairs: [number, number][] = []
  const whole = powerOfTwoFrom(count)
  for (let run = 1; run < whole; run *= 2) {
    for (let reach = run; reach >= 1; reach /= 2) {
      for (let from = reach % run; from + reach < whole; from += 2 * reach) {
        for (let i = from; i < Math.min(from + reach, whole - reach); i++) {
          if (Math.floor(i / (2 * run)) === Math.floor((i + reach) / (2 * run)) && i + reach < count) pairs.push([i, i + reach])
        }
      }
    }
  }
  return pairs
}

/** Those that sort `count` elements that rise and then fall, or the other way round. */
export function bitonic(count: number, from = 0): [number, number][] {
  if (count === 1) return []
  if (count % 2 === 1) return comparisons(count).map(([a, b]) => [a + from, b + from])
  const half = count / 2
  return [...numbers(half).map((i): [number, number] => [from + i, from + i + half]), ...bitonic(half, from), ...bitonic(half, from + half)]
}

/**
 * The first of each row, which neighbouring threads hold in registers. A word has the highest bits of an element's key and its place, so that a comparison is a
 * minimum and a maximum: threads sort their own, and merge with others by shuffles (bitonic merges: Batcher 1968). Elements whose highest bits are
 * equal lie beside each other then, and each finds its place among them.
 */
export function sortHeld(descending: boolean, rows: number, cols: number, first: number, { x, type }: Source, to: Sorted, { lanes, held }: { lanes: number; held: number }): Program {
  const rowsPerGroup = THREADS / lanes
  const length = lanes * held
  const bits = Math.ceil(Math.log2(cols))
  const mask = 2 ** bits - 1
  const exact = lowestBit(type) >= bits
  const each = (text: (k: number) => string) => numbers(held).map((k) => `  ${text(k)}`).join('\n')
  const compared = (pairs: readonly [number, number][]) => pairs.map(([a, b]) => `  { let low = min(w${a}, w${b}); w${b} = max(w${a}, w${b}); w${a} = low; }`).join('\n')
  const kept = (k: number) => `w${k} = select(w${k}, o${k}, (o${k} < w${k}) == is_lower);`
  const wgsl = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], type === 'f16' || to.type === 'f16', lanes > 1)}${keyFunctions(descending)}
var<workgroup> keys: array<u32, ${THREADS * held}>;
var<workgroup> words: array<u32, ${THREADS * held}>;
// Threads that write neighbours of their own meet different banks.
fn placed(i: u32) -> u32 { return i ^ ((i >> 5u) & 31u); }
${entry(`  let wanted = group * ${rowsPerGroup}u + lane / ${lanes}u;
  let row = min(wanted, dim(0u) - 1u);
  let l = lane % ${lanes}u;
  let row_at = lane / ${lanes}u * ${length}u;
${each((k) => `let at${k} = l + ${k * lanes}u; let key${k} = key_of(f32(x[row * ${cols}u + min(at${k}, ${cols - 1}u)])); keys[row_at + at${k}] = key${k}; var w${k} = select(0xffffffffu, (key${k} & ${(~mask) >>> 0}u) | at${k}, at${k} < ${cols}u);`)}
${compared(comparisons(held))}
${lanes === 1 ? '' : `  for (var run = 1u; run < ${lanes}u; run *= 2u) {
    {
      let is_lower = (l & run) == 0u;
${each((k) => `let o${k} = subgroupShuffleXor(w${held - 1 - k}, 2u * run - 1u);`)}
${each(kept)}
    }
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      let is_lower = (l & reach) == 0u;
${each((k) => `let o${k} = subgroupShuffleXor(w${k}, reach);`)}
${each(kept)}
    }
${compared(bitonic(held))}
  }`}
${each((k) => `words[placed(lane * ${held}u + ${k}u)] = w${k};`)}
  workgroupBarrier();
  if (wanted >= dim(0u)) { return; }
  for (var t = l; t < ${exact ? Math.min(first, cols) : cols}u; t += ${lanes}u) {
    let word = words[placed(row_at + t)];
    let place = word & ${mask}u;
    let key = keys[row_at + place];
    var rank = t;
${exact ? '' : `    for (var i = t; i > 0u; i--) {
      let other = words[placed(row_at + i - 1u)];
      if ((other ^ word) > ${mask}u) { break; }
      rank -= select(0u, 1u, keys[row_at + (other & ${mask}u)] > key);
    }
    for (var i = t + 1u; i < ${cols}u; i++) {
      let other = words[placed(row_at + i)];
      if ((other ^ word) > ${mask}u) { break; }
      rank += select(0u, 1u, keys[row_at + (other & ${mask}u)] < key);
    }
`}    ${!exact && first < cols ? `if (rank < ${first}u) ` : ''}{ values[row * ${first}u + rank] = ${storage(to.type, 1)}(value_of(key)); indices[row * ${first}u + rank] = i32(place); }
  }`, THREADS)}`
  return { scratchBytes: [], steps: [step(wgsl, [x, to.values, to.places], [rows], Math.ceil(rows / rowsPerGroup))] }
}
