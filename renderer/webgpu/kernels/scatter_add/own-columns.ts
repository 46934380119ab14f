import type { Dtype } from '@core/case'
import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'
import { cellsOf, joined } from './crowded'

/** Threads that run in step, and those of a workgroup, and columns of a row, below which others are faster (an H100: 1,000,000 sources of 16 to 100 rows 185 us, by exchanges 129; 100,000 of 100 to 64 rows 85 and 97). */
const IN_STEP = 32
const LEAST_THREADS = 64
/** Sources that a thread reads together, and those that are worth a workgroup. */
const AT_ONCE = 8
const LEAST_SOURCES = 2 * AT_ONCE
/** Workgroups that fill any device known here, and sources of each row in a part: sums that are written and read again are a quarter of what is read. */
const ENOUGH_GROUPS = 1056
const LEAST_OF_A_ROW = 4

/** What a workgroup has in its memory: `columns` of all rows, in `copies`, each of a thread for every column. */
export interface OwnColumnsPlan {
  columns: number
  copies: number
  threads: number
  slabs: number
  /** Sources of a part. */
  each: number
  parts: number
}

/** Undefined where rows leave a workgroup room for few threads, columns are few, or half of the threads would be idle. */
export function planOwnColumns(rows: number, dim: number, indices: number): OwnColumnsPlan | undefined {
  const most = Math.min(THREADS, Math.floor(cellsOf('f32') / rows / IN_STEP) * IN_STEP)
  if (most < LEAST_THREADS || dim < LEAST_THREADS) return undefined
  const slabs = Math.ceil(dim / most)
  const columns = Math.ceil(dim / slabs)
  const copies = Math.floor(most / columns)
  const threads = Math.ceil((columns * copies) / IN_STEP) * IN_STEP
  if (2 * columns * copies < threads) return undefined
  const parts = Math.max(1, Math.min(Math.floor(ENOUGH_GROUPS / slabs), Math.floor(indices / (LEAST_OF_A_ROW * rows)), Math.floor(indices / (LEAST_SOURCES * copies))))
  const each = Math.ceil(indices / parts)
  return { columns, copies, threads, slabs, each, parts: Math.ceil(indices / each) }
}

/**
 * Many sources for a few dozen rows, without atomic additions: a thread adds its column of every so many sources to sums that no other thread of the
 * workgroup has. Their words are turned so that threads in step meet different banks whatever their rows. dims: dim, indices, slabs of columns, parts, sources of a part.
 */
export function ownColumns(rows: number, dim: number, indices: number, { columns, copies, threads, slabs, each, parts }: OwnColumnsPlan, dtype: Dtype): Program {
  const together = Array.from({ length: AT_ONCE }, (_, u) => u)
  const wgsl = `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: storage(dtype, 1) }, { name: 'partial', type: 'f32', write: true }], dtype === 'f16')}
var<workgroup> cells: array<f32, ${rows * threads}>;
${entry(`  let part = group / dim(2u);
  let left = group % dim(2u) * ${columns}u;
  if (part >= dim(3u)) { return; }
  let column = left + lane % ${columns}u;
  let begin = part * dim(4u);
  let end = min(begin + dim(4u), dim(1u));
  if (lane < ${columns * copies}u && column < dim(0u)) {
    for (var s = begin + lane / ${columns}u; s < end; s += ${AT_ONCE * copies}u) {
${together.map((u) => `      let s_${u} = min(s + ${u * copies}u, end - 1u); let to_${u} = u32(indices[s_${u}]) * ${threads}u + lane; let v_${u} = select(0.0, f32(src[s_${u} * dim(0u) + column]), s + ${u * copies}u < end);`).join('\n')}
${together.map((u) => `      cells[to_${u}] += v_${u};`).join('\n')}
    }
  }
  workgroupBarrier();
  for (var i = lane; i < ${rows * columns}u; i += ${threads}u) {
    let row = i / ${columns}u;
    var sum = 0.0;
    for (var copy = 0u; copy < ${copies}u; copy++) { sum += cells[row * ${threads}u + copy * ${columns}u + i % ${columns}u]; }
    if (left + i % ${columns}u < dim(0u)) { partial[(part * ${rows}u + row) * dim(0u) + left + i % ${columns}u] = sum; }
  }`, threads)}`
  return joined(step(wgsl, [{ input: 1 }, { input: 2 }, { scratch: 0 }], [dim, indices, slabs, parts, each], slabs * parts), rows * dim, parts, dtype)
}
