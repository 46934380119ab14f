import type { Dtype } from '@core/case'
import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import type { Program, Step } from '../types'
import { exactSums } from './exact'

/** Sums that fit the 16 KiB of workgroup memory that every adapter has: of halves they have two words. */
export const cellsOf = (dtype: Dtype) => (dtype === 'f32' ? 4096 : 2048)
/** Fewer columns of all rows at a time would leave reads of the sources scattered. */
const FEWEST_COLUMNS = 8
/** Ranges of rows, each of which reads all indices, and sources of each row that are worth one. */
const MOST_RANGES = 32
const LEAST_SOURCES = 8
/** Sources that a workgroup adds up, and workgroups that fill any device known here. */
const PER_GROUP = 16 * THREADS
const ENOUGH_GROUPS = 1024
/** Sources whose indices a thread reads together. */
const AT_ONCE = 4

/** What a workgroup has in its memory: some columns of some rows, of a part of the sources. */
export interface CrowdedPlan {
  columns: number
  slabs: number
  range: number
  ranges: number
  /** Sources of a part. */
  each: number
  parts: number
}

/** Undefined where workgroups would read the indices, or scattered columns, too often. */
export function planCrowded(rows: number, dim: number, indices: number, dtype: Dtype): CrowdedPlan | undefined {
  const cells = cellsOf(dtype)
  const narrow = Math.min(dim, FEWEST_COLUMNS)
  const isWhole = rows * narrow <= cells
  const columns = isWhole ? Math.min(dim, Math.floor(cells / rows)) : dim
  const range = isWhole ? rows : Math.floor(cells / columns)
  const ranges = Math.ceil(rows / range)
  if (!isWhole && (dim > FEWEST_COLUMNS || ranges > MOST_RANGES || indices < ranges * LEAST_SOURCES * rows)) return undefined
  const slabs = Math.ceil(dim / columns)
  const parts = Math.max(1, Math.min(Math.ceil((indices * columns) / PER_GROUP), Math.floor(ENOUGH_GROUPS / (slabs * ranges)), indices))
  const each = Math.ceil(indices / parts)
  return { columns, slabs, range: Math.ceil(rows / ranges), ranges, each, parts: Math.ceil(indices / each) }
}

/** WGSL adds only integers atomically: a float is exchanged until no other thread came in between. */
const exchanged = (at: string, value: string) => `    var old = atomicLoad(&cells[${at}]);
    loop {
      let exchanged = atomicCompareExchangeWeak(&cells[${at}], old, bitcast<u32>(bitcast<f32>(old) + ${value}));
      if (exchanged.exchanged) { break; }
      old = exchanged.old_value;
    }`

/** What a half adds to the words of a sum is added atomically, so the sum is exact. */
const exactly = (at: string, value: string) => `    var low = 0u;
    var high = 0u;
    add_exactly(&low, &high, ${value});
    high += select(0u, 1u, atomicAdd(&cells[${at}], low) > 0xffffffffu - low);
    if (high != 0u) { atomicAdd(&tops[${at}], high); }`

/** Adds `value` to the sum at `at`. */
type Adds = (at: string, value: string) => string

/** Neighbouring threads have neighbouring columns of a source. */
const ofAllRows = (added: Adds) => `  let count = select(0u, (end - begin) * columns, part < dim(6u));
  for (var i = lane; i < count; i += ${THREADS}u) {
    let source = begin + i / columns;
    let column = i % columns;
    let value = f32(src[source * dim(1u) + left + column]);
    let to = u32(indices[source]) * columns + column;
${added('to', 'value')}
  }`

/** A thread has all columns of a source, which it reads where the row is one of the workgroup's. */
const together = Array.from({ length: AT_ONCE }, (_, u) => u)
const ofARange = (added: Adds) => `  for (var s = begin + lane; s < select(0u, end, part < dim(6u)); s += ${AT_ONCE * THREADS}u) {
${together.map((u) => `    let to_${u} = u32(indices[min(s + ${u * THREADS}u, end - 1u)]) - first_row;`).join('\n')}
${together.map((u) => `    if (to_${u} < dim(7u) && s + ${u * THREADS}u < end) {
      for (var column = 0u; column < columns; column++) {
        let value = f32(src[(s + ${u * THREADS}u) * columns + column]);
${added(`to_${u} * columns + column`, 'value')}
      }
    }`).join('\n')}
  }`

/** Adds a part of the sources into cells of the workgroup and leaves the sums in `partial`. dims: rows, dim, indices, columns, slabs of columns, indices of a part, parts, rows of a range. */
const partialText = (ranges: number, dtype: Dtype) => `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: storage(dtype, 1) }, { name: 'partial', type: 'f32', write: true }], dtype === 'f16')}
var<workgroup> cells: array<atomic<u32>, ${cellsOf(dtype)}>;
${dtype === 'f16' ? `var<workgroup> tops: array<atomic<u32>, ${cellsOf(dtype)}>;\n${exactSums(1)}` : ''}${entry(`  let part = group / (dim(4u) * ${ranges}u);
  let left = group / ${ranges}u % dim(4u) * dim(3u);
  let first_row = group % ${ranges}u * dim(7u);
  let columns = min(dim(3u), dim(1u) - left);
  let begin = part * dim(5u);
  let end = min(begin + dim(5u), dim(2u));
${(ranges > 1 ? ofARange : ofAllRows)(dtype === 'f16' ? exactly : exchanged)}
  workgroupBarrier();
  if (part >= dim(6u)) { return; }
  for (var i = lane; i < min(dim(7u), dim(0u) - min(first_row, dim(0u))) * columns; i += ${THREADS}u) {
    partial[(part * dim(0u) + first_row + i / columns) * dim(1u) + left + i % columns] = ${dtype === 'f16' ? 'exact_sum(atomicLoad(&cells[i]), atomicLoad(&tops[i]))' : 'bitcast<f32>(atomicLoad(&cells[i]))'};
  }`)}`

/** Many sources for few rows: workgroups add up parts of them by themselves. */
export function inParts(rows: number, dim: number, indices: number, { columns, slabs, range, ranges, each, parts }: CrowdedPlan, dtype: Dtype): Program {
  const partial = step(partialText(ranges, dtype), [{ input: 1 }, { input: 2 }, { scratch: 0 }], [rows, dim, indices, columns, slabs, each, parts, range], slabs * ranges * parts)
  return joined(partial, rows * dim, parts, dtype)
}

/** Adds the sums of the parts, which `partial` writes to scratch 0, to the cells of x. */
export function joined(partial: Step, cells: number, parts: number, dtype: Dtype): Program {
  const sum = new FoldSteps({}, FOLDS['sum']!, 'f32', parts, { scratch: 1 }, 2)
  sum.columns({ from: { scratch: 0 }, type: 'f32' }, 1, parts, cells, true)
  const added = mapped({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'sum', at: { scratch: 1 }, type: 'f32' }, { name: 'out', at: 'output', write: true }],
    body: '  out[i] = own(f32(x[i]) + sum[i]);',
  }, dtype, cells)
  return { scratchBytes: [4 * cells * parts, 4 * cells, ...sum.scratchBytes], steps: [partial, ...sum.steps, ...added.steps] }
}
