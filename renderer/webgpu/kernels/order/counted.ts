import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'
import type { Sorted, Source } from './network'

/** Longest row whose elements are compared with all others, comparisons that take no longer than the barriers of a network, and elements of all rows that leave a device idle. */
const LONGEST = 1024
const MOST_PAIRS = 2 ** 25
const FEW_ELEMENTS = 2 ** 16
/** Elements of a row that a workgroup places, and threads that share the comparisons of each. */
const ELEMENTS = 64
const SHARES = THREADS / ELEMENTS

/** Few rows of this length: a thread counts the elements in front of one sooner than a network has passed its barriers. */
export const isCounted = (rows: number, cols: number): boolean => cols <= LONGEST && rows * cols <= FEW_ELEMENTS && rows * cols * cols <= MOST_PAIRS

/** Each element to its place in the sorted row, where that is among the first: workgroups have a row in their memory and place some elements of it. */
export function countedRows(descending: boolean, rows: number, cols: number, first: number, { x, type }: Extract<Source, { x: unknown }>, { values, places }: Sorted): Program {
  const blocks = Math.ceil(cols / ELEMENTS)
  const wgsl = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'values', type: storage(type, 1), write: true }, { name: 'places', type: 'i32', write: true }], type === 'f16')}
var<workgroup> whole: array<f32, ${LONGEST}>;
var<workgroup> counts: array<u32, ${THREADS}>;
${entry(`  let cols = dim(0u);
  let blocks = dim(1u);
  let row = group / blocks;
  if (row >= dim(2u)) { return; }
  for (var c = lane; c < cols; c += ${THREADS}u) { whole[c] = f32(x[row * cols + c]); }
  workgroupBarrier();
  let column = group % blocks * ${ELEMENTS}u + lane % ${ELEMENTS}u;
  let value = whole[min(column, cols - 1u)];
  let share = (cols + ${SHARES - 1}u) / ${SHARES}u;
  let begin = lane / ${ELEMENTS}u * share;
  var rank = 0u;
  for (var c = begin; c < min(begin + share, cols); c++) {
    let other = whole[c];
    rank += select(0u, 1u, other ${descending ? '>' : '<'} value || (other == value && c < column));
  }
  counts[lane] = rank;
  workgroupBarrier();
  if (lane < ${ELEMENTS}u && column < cols) {
    let place = ${Array.from({ length: SHARES }, (_, s) => `counts[lane + ${s * ELEMENTS}u]`).join(' + ')};
    if (place < dim(3u)) {
      values[row * dim(3u) + place] = ${storage(type, 1)}(value);
      places[row * dim(3u) + place] = i32(column);
    }
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [x, values, places], [cols, blocks, rows, first], rows * blocks)] }
}
