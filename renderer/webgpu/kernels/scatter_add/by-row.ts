import { entry, header, numbers, step, THREADS, widthFor, working, type Width } from '../../wgsl/header'
import { scanMemory, scanWords, sumsBefore } from '../../wgsl/scan'
import type { DeviceLimits, Program } from '../types'
import { joined } from './crowded'

/** Sources of a thread that a workgroup orders by row at once, where their places fit its memory together with the counters: the 16 KiB of every adapter, or of large workgroups what they need. */
const EACH = 8
const FEWER = [EACH, 4, 2]
const FEWEST_GROUPS = 264
/** Rows, of each of which a few of these sources are. */
const LEAST_OF_A_ROW = 4
const MOST_ROWS = (EACH * THREADS) / LEAST_OF_A_ROW
/** Columns below which one exchange of a source costs less than its place among the others, and elements up to which exchanges take no longer. */
const FEWEST_COLUMNS = 2
const FEWEST_ELEMENTS = 2 ** 19
/** Sums that a thread keeps, and workgroups that fill any device known here. */
const MOST_KEPT = 4
const ENOUGH_GROUPS = 1056
/** The same of more rows, by large workgroups of which a multiprocessor has room for one: f32 that a thread keeps, and rows and sources. */
const LARGE = { threads: 1024, kept: 20, groups: 132, rows: 4096, ofRange: 2048, ranges: 6, columns: 11, sources: 96 * EACH * 1024 }
/** Ranges of rows of so few elements that lists of sources cost more. */
const NARROW = { columns: 3, ranges: 8 }
/** Rows from which on a range has twice as many: as many ranges each read all indices. */
const MANY_ROWS = 16_384
/** Sources that are read for a range at once: of as many, spread evenly, this share of the places that there are is taken. */
const FILLED = 0.9
/** Threads that share a sum where sums are few, and sources that are worth one. */
const MOST_SHARES = 16
const LEAST_SHARED = 8
/** Indices of a range that a thread reads together, and sources. */
const INDICES = 16
const AT_ONCE = 4

/** What a workgroup has: some vectors of all rows, of a part of the sources. */
export interface ByRowPlan {
  threads: number
  /** Sources that are ordered at once. */
  ordered: number
  width: Width | 2
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
  /** Workgroups that have a range of the rows each, and rows of a range. */
  ranges: number
  ofRange: number
  /** Sources that are read at once, of which those of a range are ordered: more where they have room. */
  read: number
}

/** Undefined where rows are many, or hardly longer than one element, or sources few. */
export function planByRow(rows: number, dim: number, indices: number, device: DeviceLimits = {}): ByRowPlan | undefined {
  if (dim < FEWEST_COLUMNS || indices * dim < FEWEST_ELEMENTS) return undefined
  if (rows > MOST_ROWS) return planLarge(rows, dim, indices, device)
  const width = widthFor(dim)
  const vectors = dim / width
  const slabs = Math.ceil(vectors / Math.max(1, Math.floor((MOST_KEPT * THREADS) / rows)))
  const wide = Math.ceil(vectors / slabs)
  // Of few sources fewer at once, so that workgroups fill a device.
  const ordered = THREADS * (FEWER.find((count) => Math.ceil(indices / (count * THREADS)) * slabs >= FEWEST_GROUPS) ?? 1)
  let shares = 1
  while (shares < MOST_SHARES && 2 * shares * rows * wide <= THREADS && ordered / rows >= 2 * shares * LEAST_SHARED) shares *= 2
  return { threads: THREADS, ordered, width, vectors, wide, slabs, shares, kept: Math.ceil((rows * wide * shares) / THREADS), ranges: 1, ofRange: rows, read: ordered, ...partsOf(indices, ordered, Math.max(1, Math.floor(ENOUGH_GROUPS / slabs))) }
}

/** Undefined where a workgroup cannot keep all sums. */
function planLarge(rows: number, dim: number, indices: number, { threads = THREADS, workgroupBytes = 0 }: DeviceLimits): ByRowPlan | undefined {
  const width = dim % 4 === 2 ? 2 : widthFor(dim)
  const vectors = dim / width
  const ranges = rows <= LARGE.rows ? 1 : Math.ceil(rows / (rows > MANY_ROWS ? 2 : 1) / LARGE.ofRange)
  const ofRange = Math.ceil(rows / ranges)
  const kept = Math.ceil((ofRange * vectors) / LARGE.threads)
  if (threads < LARGE.threads || ranges > (dim <= NARROW.columns ? NARROW.ranges : LARGE.ranges) || dim > LARGE.columns || indices < LARGE.sources || kept * width > LARGE.kept) return undefined
  const ordered = [EACH, EACH / 2].map((each) => each * LARGE.threads).find((count) => bytesOf(ofRange, count, LARGE.threads) <= workgroupBytes)
  if (ordered === undefined) return undefined
  const parts = partsOf(indices, ordered, Math.floor(LARGE.groups / ranges))
  const rounds = Math.ceil(parts.each / (ranges === 1 ? ordered : FILLED * ranges * ordered))
  return { threads: LARGE.threads, ordered, width, vectors, wide: vectors, slabs: 1, shares: 1, kept, ranges, ofRange, read: ranges === 1 ? ordered : Math.ceil(parts.each / rounds), ...parts }
}

function partsOf(indices: number, ordered: number, groups: number): { each: number; parts: number } {
  const each = Math.ceil(Math.ceil(indices / ordered) / groups) * ordered
  return { each, parts: Math.ceil(indices / each) }
}

/** Counters of rows: each thread adds up as many. */
const countersOf = (rows: number, threads: number) => Math.ceil(rows / threads) * threads + 1
const bytesOf = (rows: number, ordered: number, threads: number) => 4 * (countersOf(rows, threads) + ordered + scanWords(threads))

/**
 * Many sources for some rows, without exchanges of elements: a workgroup orders a few thousand sources by row, for which it counts those of each row,
 * and threads add up the vectors of a row that they have. Which source of a row stands first is open, so halves are added up in other ways.
 * dims: indices, sources of a part, parts.
 */
export function byRow(allRows: number, dim: number, indices: number, { threads, ordered, width, vectors, wide, slabs, shares, kept, each, parts, ranges, ofRange: rows, read }: ByRowPlan): Program {
  const vf = width === 2 ? 'vec2<f32>' : working(width)
  const of = (count: number, text: (k: number) => string) => numbers(count).map(text).join('\n')
  const scanned = Math.ceil(rows / threads)
  const own = ordered / threads
  const items = rows * wide * shares
  const place = (k: number) => `let item_${k} = lane + ${k * threads}u;
  let row_${k} = min(item_${k} / ${wide * shares}u, ${rows - 1}u);
  let vector_${k} = min(slab * ${wide}u + item_${k} % ${wide}u, ${vectors - 1}u);`
  const share = (k: number) => `item_${k} / ${wide}u % ${shares}u`
  // Threads with many sums add up two at a time: the loads of both are on their way together.
  const together = kept > MOST_KEPT ? 2 : 1
  const pairs = numbers(Math.ceil(kept / together)).map((p) => numbers(together).map((k) => p * together + k).filter((k) => k < kept))
  const added = (ks: readonly number[]) => `    {
${ks.map((k) => `      ${place(k)}
      let live_${k} = item_${k} < ${items}u;
      let end_${k} = select(0u, atomicLoad(&counts[row_${k}${ranges > 1 ? '' : ' + 1u'}]), live_${k});
      var i_${k} = ${ranges > 1 ? `select(0u, atomicLoad(&counts[max(row_${k}, 1u) - 1u]), row_${k} > 0u)` : `atomicLoad(&counts[row_${k}])`} + ${share(k)};`).join('\n')}
      while (${ks.map((k) => `i_${k} < end_${k}`).join(' || ')}) {
${ks.map((k) => of(AT_ONCE, (u) => `        let at_${k}_${u} = places[min(i_${k} + ${u * shares}u, max(end_${k}, 1u) - 1u)];`)).join('\n')}
${ks.map((k) => of(AT_ONCE, (u) => `        let v_${k}_${u} = select(${vf}(0.0), src[at_${k}_${u} * ${vectors}u + vector_${k}], i_${k} + ${u * shares}u < end_${k});`)).join('\n')}
${ks.map((k) => `        sum_${k} += ${numbers(AT_ONCE).map((u) => `v_${k}_${u}`).join(' + ')}; i_${k} += ${AT_ONCE * shares}u;`).join('\n')}
      }
    }`
  const clear = of(scanned, (k) => `    atomicStore(&counts[lane + ${k * threads}u], 0u);`)
  const scan = `${of(scanned, (k) => `    let count_${k} = atomicLoad(&counts[lane * ${scanned}u + ${k}u]);`)}
    sums[lane] = ${numbers(scanned).map((k) => `count_${k}`).join(' + ')};
${sumsBefore('ahead', '0u', threads)}
${of(scanned, (k) => `    atomicStore(&counts[lane * ${scanned}u + ${k}u], ahead);\n    ahead += count_${k};`)}`
  const ofAll = `  for (var begin = part * dim(1u); begin < last; begin += ${ordered}u) {
    workgroupBarrier();
${clear}
${of(own, (u) => `    let to_${u} = u32(indices[min(begin + lane + ${u * threads}u, last - 1u)]); let live_${u} = begin + lane + ${u * threads}u < last;`)}
    workgroupBarrier();
${of(own, (u) => `    var before_${u} = 0u; if (live_${u}) { before_${u} = atomicAdd(&counts[to_${u}], 1u); }`)}
    workgroupBarrier();
${scan}
    if (lane == ${threads - 1}u) { atomicStore(&counts[${scanned * threads}u], ahead); }
    workgroupBarrier();
${of(own, (u) => `    if (live_${u}) { places[atomicLoad(&counts[to_${u}]) + before_${u}] = begin + lane + ${u * threads}u; }`)}
    workgroupBarrier();
${pairs.map(added).join('\n')}
  }`
  const everySource = (use: (u: number) => string) => `    for (var s = begin + lane; s < end; s += ${INDICES * threads}u) {
${of(INDICES, (u) => `      let to_${u} = u32(indices[min(s + ${u * threads}u, end - 1u)]) - first_row;`)}
${of(INDICES, (u) => `      if (to_${u} < ${rows}u && s + ${u * threads}u < end) { ${use(u)} }`)}
    }`
  // Counts become where a row's places begin, and behind each place that is taken, where they end. Where more are found than there is room for, fewer sources are read.
  const ofRange = `  var size = ${read}u;
  var begin = part * dim(1u);
  while (begin < last) {
    let end = min(begin + size, last);
    workgroupBarrier();
${clear}
    workgroupBarrier();
${everySource((u) => `atomicAdd(&counts[to_${u}], 1u);`)}
    workgroupBarrier();
${scan}
    if (lane == ${threads - 1}u) { in_range = ahead; }
    if (workgroupUniformLoad(&in_range) > ${ordered}u) { size = ${ordered}u; continue; }
${everySource((u) => `places[atomicAdd(&counts[to_${u}], 1u)] = s + ${u * threads}u;`)}
    workgroupBarrier();
${pairs.map(added).join('\n')}
    begin = end;
    size = min(2u * size, ${read}u);
  }`
  const wgsl = `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: vf }, { name: 'partial', type: vf, write: true }], false)}
var<workgroup> counts: array<atomic<u32>, ${countersOf(rows, threads)}>;
var<workgroup> places: array<u32, ${ordered}>;
${ranges > 1 ? 'var<workgroup> in_range: u32;\n' : ''}${scanMemory(threads)}${entry(`  let part = group / ${slabs * ranges}u;
  if (part >= dim(2u)) { return; }
  let slab = group % ${slabs}u;
${ranges > 1 ? `  let first_row = group / ${slabs}u % ${ranges}u * ${rows}u;` : '  const first_row = 0u;'}
${of(kept, (k) => `  var sum_${k} = ${vf}(0.0);`)}
  let last = min((part + 1u) * dim(1u), dim(0u));
${ranges > 1 ? ofRange : ofAll}
${of(kept, (k) => `  { ${place(k)} if (item_${k} < ${items}u${ranges > 1 ? ` && first_row + row_${k} < ${allRows}u` : ''} && slab * ${wide}u + item_${k} % ${wide}u < ${vectors}u) { partial[((part * ${shares}u + ${share(k)}) * ${allRows}u + first_row + row_${k}) * ${vectors}u + vector_${k}] = sum_${k}; } }`)}`, threads)}`
  return joined(step(wgsl, [{ input: 1 }, { input: 2 }, { scratch: 0 }], [indices, each, parts], slabs * ranges * parts), allRows * dim, parts * shares, 'f32')
}
