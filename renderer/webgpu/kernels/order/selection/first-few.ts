import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS, eachArrival } from '../../../wgsl/arrivals'
import { entry, header, numbers, step, storage, THREADS, widthFor } from '../../../wgsl/header'
import { exchange, powerOfTwoFrom, reduction } from '../../../wgsl/rows'
import type { KernelShape, Program } from '../../types'
import { keyFunctions } from '../keys'
import type { Sorted, Source } from '../network'
import { isSelectedByRow } from './row-select'

/** Elements of a row that each thread keeps at most, and those where a workgroup selects of the row otherwise, in one dispatch as well. */
const MOST_FIRST = 8
const MOST_BESIDE = 2
/** Vectors of all rows up to which a thread takes one; of more, several, which are on their way together. */
const FEW_VECTORS = 2 ** 16
const EACH = 4
/** Elements or vectors of a thread that are on their way together. */
const ELEMENTS_TOGETHER = 8
const VECTORS_TOGETHER = 4
/** Elements that are worth a workgroup of a row, and workgroups that fill a device. */
const LEAST_PART = 2048
const FILLED = 528

/** Whether threads keep the first of what they read. */
export const isFewFirst = (rows: number, length: number, first: number): boolean => first <= (isSelectedByRow(rows, length, first) ? MOST_BESIDE : MOST_FIRST)

/** Threads that share a row, or all of a workgroup where `parts` of a row have one each. */
export function planFirstFew(rows: number, length: number): { lanes: number; parts: number } {
  const vectors = length / widthFor(length)
  const parts = Math.max(1, Math.min(Math.floor(FILLED / rows), Math.floor(length / LEAST_PART)))
  return parts > 1 ? { lanes: THREADS, parts } : { lanes: Math.min(THREADS, powerOfTwoFrom(rows * vectors <= FEW_VECTORS ? vectors : Math.ceil(vectors / EACH))), parts }
}

/**
 * The first few of each row: a thread keeps those of the elements that it reads, and as often as there are first ones, the threads of a row agree on the next one. Of
 * few long rows, the last workgroup of a row does so with what the others left.
 */
export function firstFew(descending: boolean, rows: number, length: number, first: number, { x, type }: Source, to: Sorted, { subgroups }: Pick<KernelShape, 'subgroups'>): Program {
  const width = widthFor(length)
  const { lanes, parts } = planFirstFew(rows, length)
  const split = parts > 1
  const vectors = length / width
  const size = Math.ceil(vectors / parts)
  const used = Math.ceil(vectors / size)
  const kept = numbers(first)
  const together = numbers(Math.min(width === 4 ? VECTORS_TOGETHER : ELEMENTS_TOGETHER, Math.ceil(size / lanes)))
  const sides = width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  const last = `best_${first - 1}`
  const agree = (use: (i: number) => string) => kept.map((i) => `    next = reduce_next(best_0, lane);\n    ${use(i)}\n    if (best_0.y == next.y) { ${kept.map((k) => `best_${k} = ${k + 1 < first ? `best_${k + 1}` : 'vec2<u32>(0xffffffffu)'};`).join(' ')} }`).join('\n')
  const written = (i: number) => `if (live && l == 0u) { values[row * ${first}u + ${i}u] = ${storage(to.type, 1)}(value_of(next.x)); indices[row * ${first}u + ${i}u] = i32(next.y); }`
  const wgsl = `${header([{ name: 'x', type: storage(type, width) }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }, ...(split ? [ARRIVALS] : [])], type === 'f16' || to.type === 'f16', subgroups !== undefined)}${keyFunctions(descending)}${exchange(THREADS, 'vec2<u32>')}
fn is_before(a: vec2<u32>, b: vec2<u32>) -> bool { return a.x < b.x || (a.x == b.x && a.y < b.y); }
fn nearer(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, is_before(a, b)); }
${reduction('next', lanes, (a, b) => `nearer(${a}, ${b})`, subgroups, 'vec2<u32>')}${split ? ARRIVAL_FUNCTIONS : ''}${kept.map((k) => `var<private> best_${k}: vec2<u32>;\n`).join('')}
fn take(pair: vec2<u32>) {
  ${last} = pair;
${numbers(first - 1).reverse().map((k) => `  if (is_before(best_${k + 1}, best_${k})) { let other = best_${k}; best_${k} = best_${k + 1}; best_${k + 1} = other; }`).join('\n')}
}
fn take_none() { ${kept.map((k) => `best_${k} = vec2<u32>(0xffffffffu);`).join(' ')} }
${entry(`${split ? `  let row = group / dim(2u);
  let part = group % dim(2u);
  let live = row < dim(0u);
  let begin = part * dim(3u);
  let end = min(begin + dim(3u), dim(1u));
  if (!live) { return; }` : `  let row = group * ${THREADS / lanes}u + lane / ${lanes}u;
  let live = row < dim(0u);
  let begin = 0u;
  let end = dim(1u);`}
  let l = lane % ${lanes}u;
  let base = min(row, dim(0u) - 1u) * dim(1u);
  take_none();
  // Elements of a thread come in order: of equal ones the first is kept.
  for (var i = begin + l; i < end; i += ${together.length * lanes}u) {
${together.map((u) => `    let v_${u} = x[base + ${u === 0 ? 'i' : `min(i + ${u * lanes}u, end - 1u)`}];`).join('\n')}
${together.map((u) => `    ${u === 0 ? '' : `if (i + ${u * lanes}u < end) `}{ ${sides.map((side, j) => `{ let key = key_of(f32(v_${u}${side})); if (key < ${last}.x) { take(vec2<u32>(key, ${width === 1 ? `i + ${u * lanes}u` : `4u * (i + ${u * lanes}u) + ${j}u`})); } }`).join(' ')} }`).join('\n')}
  }
  var next = vec2<u32>(0u);
${split ? `  let places = row * dim(2u) * ${2 * first}u;
  {
${agree((i) => `if (l == 0u) { leave_word(places + part * ${2 * first}u + ${2 * i}u, next.x); leave_word(places + part * ${2 * first}u + ${2 * i + 1}u, next.y); }`)}
  }
  if (is_last(dim(0u) * dim(2u) * ${2 * first}u + row, dim(2u), lane)) {
    take_none();
    var key = 0u;
${eachArrival('lane', `dim(2u) * ${first}u`, `${THREADS}u`, (i, j) => `places + 2u * (${i}) + ${j}u`, (word, j) => (j === 0 ? `key = ${word};` : `let pair = vec2<u32>(key, ${word}); if (is_before(pair, ${last})) { take(pair); }`), { words: 2, awaited: 'awaited_word' })}
${agree(written)}
  }` : `  {
${agree(written)}
  }`}`)}`
  const groups = split ? rows * used : Math.ceil(rows / (THREADS / lanes))
  return { scratchBytes: split ? [arrivalBytes(2 * rows * used * first, rows)] : [], steps: [step(wgsl, [x, to.values, to.places, ...(split ? [{ scratch: 0 }] : [])], [rows, vectors, used, size], groups)] }
}
