import { entry, header, step, storage, THREADS, working, type Width } from '../../wgsl/header'
import type { BufferName, Step } from '../types'
import type { Types } from './along'
import type { Fold } from './fold'

/** Folds over the middle axis of [outer, reduce, inner], which is cut into `parts` pieces. */
export interface Columns {
  outer: number
  reduce: number
  /** Vectors of `width` elements in the inner axis. */
  vectors: number
  width: Width
  parts: number
  /** Elements that each result stands for, for means. */
  count: number
}

/** What each element is multiplied with: the element of `x` less its row's mean, times its row's rstd. */
export interface Times {
  x: BufferName
  rstd: BufferName
  mean?: BufferName
}

/** A workgroup is 32 vectors wide and 8 rows high. */
const COLUMNS_PER_GROUP = 32
const ROWS = THREADS / COLUMNS_PER_GROUP

/** Workgroups beside each other along the inner axis. */
export const columnGroups = (vectors: number): number => Math.ceil(vectors / COLUMNS_PER_GROUP)

/** Writes [outer, parts, inner] results. */
export function foldAcross(fold: Fold, columns: Columns, types: Types, from: BufferName, to: BufferName, times?: Times): Step {
  const perPart = Math.ceil(columns.reduce / columns.parts)
  const beside = columnGroups(columns.vectors)
  const vector = working(columns.width)
  const factors = times ? [{ name: 'y', type: storage(types.from, columns.width) }, { name: 'rstd', type: 'f32' }, ...(times.mean ? [{ name: 'mean', type: 'f32' }] : [])] : []
  const bindings = [{ name: 'x', type: storage(types.from, columns.width) }, ...factors, { name: 'out', type: storage(types.to, columns.width), write: true }]
  const factor = (row: string) => (times ? ` * (${vector}(y[base + (${row}) * vectors])${times.mean ? ` - mean[${row}]` : ''}) * rstd[${row}]` : '')
  const take = (into: number, row: string) => `let v${into} = ${vector}(x[base + (${row}) * vectors])${factor(row)}; s${into} = ${fold.join(`s${into}`, fold.take(`v${into}`))};`
  const wgsl = `${header(bindings, types.from === 'f16' || types.to === 'f16')}
var<workgroup> rows: array<${vector}, ${THREADS}>;
${entry(`  let vectors = dim(0u);
  let reduce = dim(1u);
  let parts = dim(2u);
  let column = group % dim(4u) * ${COLUMNS_PER_GROUP}u + lane % ${COLUMNS_PER_GROUP}u;
  let piece = group / dim(4u);
  let live = column < vectors && piece < dim(5u);
  let base = piece / parts * reduce * vectors + column;
  let end = min((piece % parts + 1u) * dim(3u), reduce);
  var r = piece % parts * dim(3u) + lane / ${COLUMNS_PER_GROUP}u;
  var s0 = ${vector}(${fold.start});
  var s1 = s0;
  var s2 = s0;
  var s3 = s0;
  if (live) {
    for (; r + ${3 * ROWS}u < end; r += ${4 * ROWS}u) { ${take(0, 'r')} ${take(1, `r + ${ROWS}u`)} ${take(2, `r + ${2 * ROWS}u`)} ${take(3, `r + ${3 * ROWS}u`)} }
    for (; r < end; r += ${ROWS}u) { ${take(0, 'r')} }
  }
  let left = ${fold.join('s0', 's1')};
  let right = ${fold.join('s2', 's3')};
  rows[lane] = ${fold.join('left', 'right')};
  workgroupBarrier();
  if (live && lane < ${COLUMNS_PER_GROUP}u) {
    var total = rows[lane];
    for (var other = 1u; other < ${ROWS}u; other++) { total = ${fold.join('total', `rows[lane + other * ${COLUMNS_PER_GROUP}u]`)}; }
    out[piece * vectors + column] = ${storage(types.to, columns.width)}(${fold.finish('total', 'scalar(0u)')});
  }`)}`
  const pieces = columns.outer * columns.parts
  return step(wgsl, [from, ...(times ? [times.x, times.rstd, ...(times.mean ? [times.mean] : [])] : []), to], [columns.vectors, columns.reduce, columns.parts, perPart, beside, pieces], beside * pieces, [columns.count])
}
