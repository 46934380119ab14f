import { entry, header, numbers, step, storage, THREADS, type Binding } from '../../wgsl/header'
import type { BufferName, Step } from '../types'
import { keyFunctions } from './keys'

/** Pairs of key and place that fit the 16 KiB of workgroup memory that every adapter has; eight for each thread. */
export const BLOCK_BITS = 11
export const BLOCK = 2 ** BLOCK_BITS
/** Reaches that a thread compares in registers between two exchanges: 2^3 pairs. */
const HELD_BITS = 3

/** Compares the held pairs a and b: the smaller in front where `up`. Equal keys stand by their places. */
const exchange = (a: number, b: number, up: string): string =>
  `{ let swap = (k${a} > k${b} || (k${a} == k${b} && p${a} > p${b})) == (${up}); let key = select(k${a}, k${b}, swap); let place = select(p${a}, p${b}, swap); k${b} = select(k${b}, k${a}, swap); p${b} = select(p${b}, p${a}, swap); k${a} = key; p${a} = place; }`

/** One reach among 2^bits held pairs. */
const reach = (bits: number, bit: number, up: (low: number) => string): string =>
  numbers(2 ** bits).filter((j) => (j & (1 << bit)) === 0).map((j) => `  ${exchange(j, j | (1 << bit), up(j))}`).join('\n')

/** Where pairs stand in workgroup memory: moved so that threads that read them a power of two apart meet different banks. */
const PLACED = 'fn placed(i: u32) -> u32 { let g = i >> 5u; return i ^ ((g & 7u) ^ ((g & 3u) << 3u)); }\n'

/** Bitonic sorting (Batcher 1968): `network(run, top, ...)` does the reaches below 2^top of runs of 2^run, three between two exchanges. */
export const NETWORK = `var<workgroup> keys: array<u32, ${BLOCK}>;
var<workgroup> places: array<u32, ${BLOCK}>;
${PLACED}fn network(run: u32, reaches: u32, first: u32, mask: u32, lane: u32) {
  var top = reaches;
  while (top > 0u) {
    let bits = min(top, ${HELD_BITS}u);
    top -= bits;
    let base = ((lane >> top) << (top + ${HELD_BITS}u)) | (lane & ((1u << top) - 1u));
    let up = ((((first + base) & mask) >> run) & 1u) == 0u;
${numbers(8).map((j) => `    let at${j} = placed(base + (${j}u << top)); var k${j} = keys[at${j}]; var p${j} = places[at${j}];`).join('\n')}
    if (bits > 2u) {
${reach(3, 2, () => 'up')}
    }
    if (bits > 1u) {
${reach(3, 1, () => 'up')}
    }
${reach(3, 0, () => 'up')}
${numbers(8).map((j) => `    keys[at${j}] = k${j}; places[at${j}] = p${j};`).join('\n')}
    workgroupBarrier();
  }
}
`

/** The first three runs, of neighbours that a thread holds. */
export const FIRST_RUNS = `  {
    let up = ((((first + lane * 8u) & mask) >> 3u) & 1u) == 0u;
${numbers(8).map((j) => `    let at${j} = placed(lane * 8u + ${j}u); var k${j} = keys[at${j}]; var p${j} = places[at${j}];`).join('\n')}
${reach(3, 0, (j) => ((j & 2) === 0 ? 'true' : 'false'))}
${reach(3, 1, (j) => ((j & 4) === 0 ? 'true' : 'false'))}
${reach(3, 0, (j) => ((j & 4) === 0 ? 'true' : 'false'))}
${reach(3, 2, () => 'up')}
${reach(3, 1, () => 'up')}
${reach(3, 0, () => 'up')}
${numbers(8).map((j) => `    keys[at${j}] = k${j}; places[at${j}] = p${j};`).join('\n')}
    workgroupBarrier();
  }
`

/** Where the pairs of a block come from: elements of x, or pairs that an earlier step left. */
export type Source = { x: BufferName; type: 'f32' | 'f16' } | { pairs: BufferName }
/** Values and places of the first of each row. */
export interface Sorted {
  values: BufferName
  places: BufferName
  type: 'f32' | 'f16'
}
/** Where they go: the first of each block to other pairs, or the result. */
export type Target = { best: BufferName } | Sorted

export interface Rows {
  rows: number
  /** Elements of a row, which lie side by side in the source. */
  length: number
  /** Bits of the length up to which rows are padded with pairs that stand last. */
  paddedBits: number
  /** How many of each row, or of each block for `best`, are written. */
  first: number
}

/** dims: rows, length, padded bits, blocks of a row (0 where rows share a block), first. */
const ELEMENT = `    let i = k * ${THREADS}u + lane;
    let row = select((base + i) >> dim(2u), group / max(dim(3u), 1u), dim(3u) > 0u);
    let column = select((base + i) & mask, group % max(dim(3u), 1u) * ${BLOCK}u + i, dim(3u) > 0u);`

/** The pair that stands at i, as the value and place at `column` of a row's first. */
export const writeResult = (type: 'f32' | 'f16', column: string): string => `values[row * dim(4u) + ${column}] = ${storage(type, 1)}(value_of(keys[placed(i)])); indices[row * dim(4u) + ${column}] = i32(places[placed(i)]);`

/** Sorts blocks. Rows shorter than a block share one; those of longer rows all ascend. */
export function sortBlocks(descending: boolean, { rows, length, paddedBits, first }: Rows, source: Source, target: Target): Step {
  const elements = 'x' in source
  const best = 'best' in target
  const f16 = (elements && source.type === 'f16') || (!best && target.type === 'f16')
  const bindings: Binding[] = [
    elements ? { name: 'x', type: storage(source.type, 1) } : { name: 'pairs', type: 'vec2<u32>' },
    ...(best ? [{ name: 'best', type: 'vec2<u32>', write: true }] : [{ name: 'values', type: storage(target.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }]),
  ]
  const write = best
    ? '    if (row < dim(0u) && i < dim(4u)) { best[group * dim(4u) + i] = vec2<u32>(keys[placed(i)], places[placed(i)]); }'
    : `    if (row < dim(0u) && column < dim(4u)) { ${writeResult(target.type, 'column')} }`
  const read = elements
    ? 'pair = vec2<u32>(key_of(f32(x[row * dim(1u) + column])), column);'
    : 'pair = pairs[row * dim(1u) + column];'
  const perRow = paddedBits > BLOCK_BITS ? Math.ceil(length / BLOCK) : 0
  const wgsl = `${header(bindings, f16)}${keyFunctions(descending)}${NETWORK}
${entry(`  let mask = (1u << dim(2u)) - 1u;
  let base = group * ${BLOCK}u;
  // The place of the block in its row: it decides which runs ascend.
  let first = ${best ? '0u' : 'base'};
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
${ELEMENT}
    var pair = vec2<u32>(0xffffffffu, 0xffffffffu - column);
    if (row < dim(0u) && column < dim(1u)) { ${read} }
    keys[placed(i)] = pair.x;
    places[placed(i)] = pair.y;
  }
  workgroupBarrier();
${FIRST_RUNS}  for (var run = 4u; run <= min(dim(2u), ${BLOCK_BITS}u); run++) { network(run, run, first, mask, lane); }
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
${ELEMENT}
${write}
  }`)}`
  const groups = perRow > 0 ? rows * perRow : Math.ceil((rows * 2 ** paddedBits) / BLOCK)
  return step(wgsl, [elements ? source.x : source.pairs, ...(best ? [target.best] : [target.values, target.places])], [rows, length, paddedBits, perRow, first], groups)
}

/**
 * Halves the ascending blocks of each row: of two, the pairs that stand first. One block met by the other in reverse leaves them as a
 * bitonic run, which one merge sorts.
 */
export function keepBest(descending: boolean, rows: number, blocks: number, first: number, pairs: BufferName, target: Target): Step {
  const half = Math.ceil(blocks / 2)
  const best = 'best' in target
  const type = best ? 'f32' : target.type
  const bindings: Binding[] = [{ name: 'pairs', type: 'vec2<u32>' }, ...(best ? [{ name: 'best', type: 'vec2<u32>', write: true }] : [{ name: 'values', type: storage(type, 1), write: true }, { name: 'indices', type: 'i32', write: true }])]
  const wgsl = `${header(bindings, type === 'f16')}${keyFunctions(descending)}${NETWORK}
${entry(`  let row = group / dim(2u);
  let block = group % dim(2u);
  if (row >= dim(0u)) { return; }
  let begin = (row * dim(1u) + 2u * block) * ${BLOCK}u;
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
    let i = k * ${THREADS}u + lane;
    var pair = pairs[begin + i];
    if (2u * block + 1u < dim(1u)) {
      let other = pairs[begin + ${2 * BLOCK - 1}u - i];
      if (other.x < pair.x || (other.x == pair.x && other.y < pair.y)) { pair = other; }
    }
    keys[placed(i)] = pair.x;
    places[placed(i)] = pair.y;
  }
  workgroupBarrier();
  network(${BLOCK_BITS}u, ${BLOCK_BITS}u, 0u, ${BLOCK - 1}u, lane);
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
    let i = k * ${THREADS}u + lane;
    ${best ? `best[group * ${BLOCK}u + i] = vec2<u32>(keys[placed(i)], places[placed(i)]);` : `if (i < dim(4u)) { ${writeResult(type, 'i')} }`}
  }`)}`
  return step(wgsl, [pairs, ...(best ? [target.best] : [target.values, target.places])], [rows, blocks, half, 0, first], rows * half)
}
