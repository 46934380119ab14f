import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import type { BufferName, Step } from '../types'
import { keyFunctions } from './keys'

/** Pairs of key and place that fit the 16 KiB of workgroup memory that every adapter has; eight for each thread. */
const BLOCK = 2 ** 11
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
const NETWORK = `var<workgroup> keys: array<u32, ${BLOCK}>;
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
const FIRST_RUNS = `  {
    let up = ((((base + lane * 8u) & mask) >> 3u) & 1u) == 0u;
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

/** Where elements come from. */
export interface Source {
  x: BufferName
  type: 'f32' | 'f16'
}

/** Values and places of the first of each row. */
export interface Sorted {
  values: BufferName
  places: BufferName
  type: 'f32' | 'f16'
}

export interface Rows {
  rows: number
  /** Elements of a row, which lie side by side. */
  length: number
  /** Bits of the length up to which rows are padded with pairs that stand last. */
  paddedBits: number
  /** How many of each row are written. */
  first: number
}

/** dims: rows, length, padded bits, first. */
const ELEMENT = `    let i = k * ${THREADS}u + lane;
    let row = (base + i) >> dim(2u);
    let column = (base + i) & mask;`

/** Sorts rows that share blocks: up to half as long as these. */
export function sortBlocks(descending: boolean, { rows, length, paddedBits, first }: Rows, { x, type }: Source, to: Sorted): Step {
  const wgsl = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], type === 'f16' || to.type === 'f16')}${keyFunctions(descending)}${NETWORK}
${entry(`  let mask = (1u << dim(2u)) - 1u;
  let base = group * ${BLOCK}u;
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
${ELEMENT}
    var pair = vec2<u32>(0xffffffffu, 0xffffffffu - column);
    if (row < dim(0u) && column < dim(1u)) { pair = vec2<u32>(key_of(f32(x[row * dim(1u) + column])), column); }
    keys[placed(i)] = pair.x;
    places[placed(i)] = pair.y;
  }
  workgroupBarrier();
${FIRST_RUNS}  for (var run = 4u; run <= dim(2u); run++) { network(run, run, base, mask, lane); }
  for (var k = 0u; k < ${BLOCK / THREADS}u; k++) {
${ELEMENT}
    if (row < dim(0u) && column < dim(3u)) { values[row * dim(3u) + column] = ${storage(to.type, 1)}(value_of(keys[placed(i)])); indices[row * dim(3u) + column] = i32(places[placed(i)]); }
  }`)}`
  return step(wgsl, [x, to.values, to.places], [rows, length, paddedBits, first], Math.ceil((rows * 2 ** paddedBits) / BLOCK))
}
