import { entry, header, step, THREADS, widthFor, working, type Width } from '../../wgsl/header'
import type { Program } from '../types'
import { joined } from './crowded'

/** Sources that a workgroup orders by row at once, whose places fit the 16 KiB of workgroup memory that every adapter has together with the counters. */
const EACH = 8
const ORDERED = EACH * THREADS
/** Rows, of each of which a few of these sources are. */
const MOST_ROWS = ORDERED / 4
/** Columns below which one exchange of a source costs less than its place among the others, and elements up to which exchanges take no longer. */
const FEWEST_COLUMNS = 2
const FEWEST_ELEMENTS = 2 ** 19
/** Sums that a thread keeps, and workgroups that fill any device known here. */
const MOST_KEPT = 4
const ENOUGH_GROUPS = 1056
/** Threads that share a sum where sums are few, and sources that are worth one. */
const MOST_SHARES = 16
const LEAST_SHARED = 8
/** Sources that a thread reads together. */
const AT_ONCE = 4

/** What a workgroup has: some vectors of all rows, of a part of the sources. */
export interface ByRowPlan {
  width: Width
  /** Vectors of a row, those of a workgroup beside each other, and workgroups that have all. */
  vectors: number
  wide: number
  slabs: number
  /** Threads that share a sum, each with sums of its own. */
  shares: number
  /** Sums of a thread. */
  kept: number
  /** Sources of a part, a whole number of times those that are ordered at once. */
  each: number
  parts: number
}

/** Undefined where rows are many, or hardly longer than one element, or sources few. */
export function planByRow(rows: number, dim: number, indices: number): ByRowPlan | undefined {
  if (rows > MOST_ROWS || dim < FEWEST_COLUMNS || indices * dim < FEWEST_ELEMENTS) return undefined
  const width = widthFor(dim)
  const vectors = dim / width
  const slabs = Math.ceil(vectors / Math.max(1, Math.floor((MOST_KEPT * THREADS) / rows)))
  const wide = Math.ceil(vectors / slabs)
  let shares = 1
  while (shares < MOST_SHARES && 2 * shares * rows * wide <= THREADS && ORDERED / rows >= 2 * shares * LEAST_SHARED) shares *= 2
  const chunks = Math.ceil(indices / ORDERED)
  const each = Math.ceil(chunks / Math.max(1, Math.floor(ENOUGH_GROUPS / slabs))) * ORDERED
  return { width, vectors, wide, slabs, shares, kept: Math.ceil((rows * wide * shares) / THREADS), each, parts: Math.ceil(indices / each) }
}

/**
 * Many sources for some rows, without exchanges of elements: a workgroup orders a few thousand sources by row, for which it counts those of each row,
 * and threads add up the vectors of a row that they have. Which source of a row stands first is open, so halves are added up in other ways.
 * dims: indices, sources of a part, parts.
 */
export function byRow(rows: number, dim: number, indices: number, { width, vectors, wide, slabs, shares, kept, each, parts }: ByRowPlan): Program {
  const vf = working(width)
  const list = (count: number) => Array.from({ length: count }, (_, i) => i)
  const of = (count: number, text: (k: number) => string) => list(count).map(text).join('\n')
  const scanned = Math.ceil(rows / THREADS)
  const wgsl = `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: vf }, { name: 'partial', type: vf, write: true }], false)}
var<workgroup> counts: array<atomic<u32>, ${scanned * THREADS + 1}>;
var<workgroup> places: array<u32, ${ORDERED}>;
var<workgroup> sums: array<u32, ${THREADS}>;
${entry(`  let part = group / ${slabs}u;
  if (part >= dim(2u)) { return; }
  let slab = group % ${slabs}u;
${of(kept, (k) => `  let item_${k} = lane + ${k * THREADS}u;
  let row_${k} = min(item_${k} / ${wide * shares}u, ${rows - 1}u);
  let vector_${k} = min(slab * ${wide}u + item_${k} % ${wide}u, ${vectors - 1}u);
  var sum_${k} = ${vf}(0.0);`)}
  let last = min((part + 1u) * dim(1u), dim(0u));
  for (var begin = part * dim(1u); begin < last; begin += ${ORDERED}u) {
    workgroupBarrier();
${of(scanned, (k) => `    atomicStore(&counts[lane + ${k * THREADS}u], 0u);`)}
${of(EACH, (u) => `    let live_${u} = begin + lane + ${u * THREADS}u < last; let to_${u} = u32(indices[min(begin + lane + ${u * THREADS}u, last - 1u)]);`)}
    workgroupBarrier();
${of(EACH, (u) => `    var before_${u} = 0u; if (live_${u}) { before_${u} = atomicAdd(&counts[to_${u}], 1u); }`)}
    workgroupBarrier();
${of(scanned, (k) => `    let count_${k} = atomicLoad(&counts[lane * ${scanned}u + ${k}u]);`)}
    let own = ${list(scanned).map((k) => `count_${k}`).join(' + ')};
    sums[lane] = own;
    workgroupBarrier();
    var ahead = 0u;
    if (lane < 16u) { for (var j = 0u; j < 16u; j++) { ahead += sums[lane * 16u + j]; } }
    workgroupBarrier();
    let tops = ahead;
    ahead = 0u;
    for (var j = lane & 240u; j < lane; j++) { ahead += sums[j]; }
    workgroupBarrier();
    if (lane < 16u) { sums[lane] = tops; }
    workgroupBarrier();
    for (var j = 0u; j < lane / 16u; j++) { ahead += sums[j]; }
${of(scanned, (k) => `    atomicStore(&counts[lane * ${scanned}u + ${k}u], ahead);\n    ahead += count_${k};`)}
    if (lane == ${THREADS - 1}u) { atomicStore(&counts[${scanned * THREADS}u], ahead); }
    workgroupBarrier();
${of(EACH, (u) => `    if (live_${u}) { places[atomicLoad(&counts[to_${u}]) + before_${u}] = begin + lane + ${u * THREADS}u; }`)}
    workgroupBarrier();
${of(kept, (k) => `    if (item_${k} < ${rows * wide * shares}u) {
      let end = atomicLoad(&counts[row_${k} + 1u]);
      for (var i = atomicLoad(&counts[row_${k}]) + item_${k} / ${wide}u % ${shares}u; i < end; i += ${AT_ONCE * shares}u) {
${of(AT_ONCE, (u) => `        let at_${u} = places[min(i + ${u * shares}u, end - 1u)];`)}
${of(AT_ONCE, (u) => `        let v_${u} = ${u === 0 ? '' : `select(${vf}(0.0), `}src[at_${u} * ${vectors}u + vector_${k}]${u === 0 ? '' : `, i + ${u * shares}u < end)`};`)}
        sum_${k} += ${list(AT_ONCE).map((u) => `v_${u}`).join(' + ')};
      }
    }`)}
  }
${of(kept, (k) => `  if (item_${k} < ${rows * wide * shares}u && slab * ${wide}u + item_${k} % ${wide}u < ${vectors}u) { partial[((part * ${shares}u + item_${k} / ${wide}u % ${shares}u) * ${rows}u + row_${k}) * ${vectors}u + vector_${k}] = sum_${k}; }`)}`)}`
  return joined(step(wgsl, [{ input: 1 }, { input: 2 }, { scratch: 0 }], [indices, each, parts], slabs * parts), rows * dim, parts * shares, 'f32')
}
