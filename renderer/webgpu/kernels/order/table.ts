import { mapped } from '../../wgsl/mapped'
import { powerOfTwoFrom } from '../../wgsl/rows'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { firstFew, isFewFirst } from './selection/first-few'
import { isHeld, planHeld, sortHeld } from './held'
import { sortBlocks } from './network'
import { LONGEST_PART, partOfFirst, sortByParts } from './parts'
import { sortDigits } from './radix'
import { hasRuns, sortRuns } from './runs'
import { FEW, isSelectedByPart, isSelectedByRow, selectByPart, selectByRow } from './selection/row-select'
import { isFasterThanParts, isSelected, selectFirst } from './selection/many'
import { isShort, sortShort } from './short'

/** Rows are padded to as many elements at least, those that a thread holds. */
const SHORTEST_BITS = 3

const bitsFor = (length: number) => Math.max(SHORTEST_BITS, Math.log2(powerOfTwoFrom(length)))
const floatOf = (shape: KernelShape) => (shape.dtype === 'f16' ? 'f16' : 'f32')

/** Rows up to this length are sorted by a network over all pairs. */
const LONGEST_NETWORK = 1024

/** Rows up to this length are sorted by a thread for each element, which counts those in front of it. */
const SHORT_ROW = 32
/** So are rows of up to this length while comparisons are few: a network waits at a barrier for each of its steps. */
const RANKED_ROW = 512
const RANKED_PAIRS = 2 ** 25
const isRanked = (rows: number, cols: number): boolean => cols <= SHORT_ROW || (cols <= RANKED_ROW && rows * cols * cols <= RANKED_PAIRS)

/** Each element of a short row to its place, where that is among the first. */
function ranked(shape: KernelShape, descending: boolean, first: number): Program {
  const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'values', at: 'output', write: true }, { name: 'places', at: { output: 1 }, type: 'i32', write: true }],
    body: `  let cols = dim(1u);
  let row = i / cols;
  let column = i % cols;
  let value = f32(x[i]);
  var rank = 0u;
  for (var c = 0u; c < cols; c++) {
    let other = f32(x[row * cols + c]);
    if (other ${descending ? '>' : '<'} value || (other == value && c < column)) { rank++; }
  }
  if (rank < dim(2u)) {
    values[row * dim(2u) + rank] = own(value);
    places[row * dim(2u) + rank] = i32(column);
  }`,
    dims: [cols, first],
  }, shape.dtype, rows * cols)
}

/** The first `first` pairs of each sorted row of x: in one step where a row fits a workgroup, whole rows that do not by their digits. */
function sorted(shape: KernelShape, descending: boolean, first: number): Program {
  const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
  const type = floatOf(shape)
  const out = { values: 'output' as const, places: { output: 1 }, type } as const
  const x = { x: { input: 0 }, type } as const
  if (isShort(rows, cols)) return sortShort(descending, rows, cols, first, x, out)
  if (cols > SHORT_ROW && isFewFirst(rows, cols, first)) return firstFew(descending, rows, cols, first, x, out, shape)
  const held = isHeld(rows, cols, shape) ? planHeld(cols, shape.subgroups) : undefined
  if (held) return sortHeld(descending, rows, cols, first, x, out, held)
  if (cols > SHORT_ROW && hasRuns(rows, cols)) return sortRuns(descending, rows, cols, first, x, out, shape.threads)
  if (isRanked(rows, cols)) return ranked(shape, descending, first)
  if (isSelectedByRow(rows, cols, first)) return selectByRow(descending, rows, cols, first, x, out, shape)
  if (cols <= LONGEST_NETWORK) return { scratchBytes: [], steps: [sortBlocks(descending, { rows, length: cols, paddedBits: bitsFor(cols), first }, x, out)] }
  if (cols <= LONGEST_PART) return sortByParts(descending, rows, cols, first, LONGEST_PART, x, out, shape)
  if (isSelectedByPart(rows, cols, first) && (first <= FEW || !isFasterThanParts(rows, cols, first))) return selectByPart(descending, rows, cols, first, x, out, shape)
  const longest = partOfFirst(rows, cols, first, shape)
  if (isSelected(rows, cols, first, longest !== undefined)) return selectFirst(descending, rows, cols, first, x, out, shape)
  return longest === undefined ? sortDigits(descending, rows, cols, first, x, out, shape) : sortByParts(descending, rows, cols, first, longest, x, out, shape)
}

const kernels: Readonly<Record<string, Kernel>> = {
  sort: { dtypes: ['f32', 'f16'], build: (shape) => sorted(shape, dimOf(shape, 2) === 1, dimOf(shape, 1)) },
  topk: { dtypes: ['f32', 'f16'], build: (shape) => sorted(shape, true, dimOf(shape, 2)) },
}
export default kernels
