import { entry, header, step, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { EXCHANGE, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import { joinPrograms } from '../../wgsl/row-op'
import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { fewRows } from './few-rows'
import { linked } from './linked'

/** WGSL adds only integers atomically: a float is exchanged until no other thread came in between. */
const added = (cell: string, value: string) => `  var old = atomicLoad(&${cell});
  loop {
    let exchanged = atomicCompareExchangeWeak(&${cell}, old, bitcast<u32>(bitcast<f32>(old) + ${value}));
    if (exchanged.exchanged) { break; }
    old = exchanged.old_value;
  }`

/** Elements that a thread adds: their reads and first exchanges are on their way together. */
const TOGETHER = 4
const each = (text: (u: number) => string): string => Array.from({ length: TOGETHER }, (_, u) => text(u)).join('\n')
const exchanged = (u: number): string => `let e = atomicCompareExchangeWeak(&out[to_${u}], old_${u}, bitcast<u32>(bitcast<f32>(old_${u}) + value_${u})); done_${u} = e.exchanged; old_${u} = e.old_value;`

const ADD = `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: 'f32' }, { name: 'out', type: 'atomic<u32>', write: true }], false)}
${entry(`  let first = group * ${TOGETHER * THREADS}u + lane;
${each((u) => `  let live_${u} = first + ${u * THREADS}u < dim(0u);
  let at_${u} = min(first + ${u * THREADS}u, dim(0u) - 1u);
  let to_${u} = u32(indices[at_${u} / dim(1u)]) * dim(1u) + at_${u} % dim(1u);
  let value_${u} = src[at_${u}];`)}
${each((u) => `  var old_${u} = atomicLoad(&out[to_${u}]);`)}
${each((u) => `  var done_${u} = true;\n  if (live_${u}) { ${exchanged(u)} }`)}
${each((u) => `  while (!done_${u}) { ${exchanged(u)} }`)}`)}`

/** f32 that fit the 16 KiB of workgroup memory that every adapter has. */
const CELLS = 4096
/** Sources for each row from which on threads would wait for each other in memory. */
const CROWDED = 8
/** Fewer columns of all rows at a time would leave reads of the sources scattered. */
const FEWEST_COLUMNS = 8
/** Sources that a workgroup adds up, and workgroups that fill any device known here. */
const PER_GROUP = 16 * THREADS
const ENOUGH_GROUPS = 1024

/** Adds a part of the sources into cells of the workgroup, some columns of all rows, and leaves the sums in \`partial\`. dims: rows, dim, indices, columns, slabs of columns, indices of a part, parts. */
const PARTIAL = `${header([{ name: 'indices', type: 'i32' }, { name: 'src', type: 'f32' }, { name: 'partial', type: 'f32', write: true }], false)}
var<workgroup> cells: array<atomic<u32>, ${CELLS}>;
${entry(`  let part = group / dim(4u);
  let left = group % dim(4u) * dim(3u);
  let columns = min(dim(3u), dim(1u) - left);
  let begin = part * dim(5u);
  let count = select(0u, (min(begin + dim(5u), dim(2u)) - begin) * columns, part < dim(6u));
  for (var i = lane; i < count; i += ${THREADS}u) {
    let source = begin + i / columns;
    let column = i % columns;
    let value = src[source * dim(1u) + left + column];
    let to = u32(indices[source]) * columns + column;
  ${added('cells[to]', 'value')}
  }
  workgroupBarrier();
  if (part >= dim(6u)) { return; }
  for (var i = lane; i < dim(0u) * columns; i += ${THREADS}u) {
    partial[(part * dim(0u) + i / columns) * dim(1u) + left + i % columns] = bitcast<f32>(atomicLoad(&cells[i]));
  }`)}`

/** Many sources for few rows: workgroups add up parts of them by themselves, then the parts are added to x. */
function inParts(rows: number, dim: number, indices: number, columns: number): Program {
  const slabs = Math.ceil(dim / columns)
  const parts = Math.max(1, Math.min(Math.ceil((indices * columns) / PER_GROUP), Math.floor(ENOUGH_GROUPS / slabs), indices))
  const each = Math.ceil(indices / parts)
  const partial = step(PARTIAL, [{ input: 1 }, { input: 2 }, { scratch: 0 }], [rows, dim, indices, columns, slabs, each, Math.ceil(indices / each)], slabs * Math.ceil(indices / each))
  const taken = Math.ceil(indices / each)
  const sum = new FoldSteps({}, FOLDS['sum']!, 'f32', taken, { scratch: 1 }, 2)
  sum.columns({ from: { scratch: 0 }, type: 'f32' }, 1, taken, rows * dim, true)
  const added = mapped({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'sum', at: { scratch: 1 }, type: 'f32' }, { name: 'out', at: 'output', write: true }],
    body: '  out[i] = x[i] + sum[i];',
  }, 'f32', rows * dim)
  return { scratchBytes: [4 * rows * dim * taken, 4 * rows * dim, ...sum.scratchBytes], steps: [partial, ...sum.steps, ...added.steps] }
}

/** Comparisons of cells with indices that take no longer than a second dispatch, and those of a thread. */
const MOST_COMPARED = 2 ** 24
const COMPARED = 64

/** Little to add: threads share each cell of the output, and look for the sources of its row. Undefined where that is much. */
function searched(shape: KernelShape, rows: number, dim: number, indices: number): Program | undefined {
  if (rows * dim * indices > MOST_COMPARED) return undefined
  const lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(indices / COMPARED)))
  const cells = THREADS / lanes
  const four = [0, 1, 2, 3]
  const wgsl = `${header([{ name: 'x', type: 'f32' }, { name: 'indices', type: 'i32' }, { name: 'src', type: 'f32' }, { name: 'out', type: 'f32', write: true }], false, shape.subgroups !== undefined)}${EXCHANGE}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups)}
${entry(`  let cell = group * ${cells}u + lane / ${lanes}u;
  let live = cell < dim(0u);
  let row = i32(cell / dim(1u));
  let column = cell % dim(1u);
  let before = x[min(cell, dim(0u) - 1u)];
  var sum = 0.0;
  for (var s = lane % ${lanes}u; s < dim(2u); s += ${4 * lanes}u) {
${four.map((u) => `    let at_${u} = indices[min(s + ${u * lanes}u, dim(2u) - 1u)];`).join('\n')}
${four.map((u) => `    if (at_${u} == row && s + ${u * lanes}u < dim(2u)) { sum += src[(s + ${u * lanes}u) * dim(1u) + column]; }`).join('\n')}
  }
  let total = reduce_sum(sum, lane);
  if (live && lane % ${lanes}u == 0u) { out[cell] = before + total; }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [rows * dim, dim, indices], Math.ceil((rows * dim) / cells))] }
}

/** A copy of x with every source added to its place; the order of the additions is open. */
const kernel: Kernel = {
  dtypes: ['f32'],
  build: (shape) => {
    const [rows, dim, indices] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const few = searched(shape, rows, dim, indices) ?? fewRows(rows, dim, indices)
    if (few) return few
    const columns = Math.min(dim, Math.floor(CELLS / rows))
    if (indices > CROWDED * rows && columns >= Math.min(dim, FEWEST_COLUMNS)) return inParts(rows, dim, indices, columns)
    const lists = indices <= CROWDED * rows ? linked(rows, dim, indices) : undefined
    if (lists) return lists
    const copy = mapped({ tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'out', at: 'output', type: 'own4', write: true }], body: '  out[i] = x[i];' }, shape.dtype, Math.ceil((rows * dim) / 4))
    const add = step(ADD, [{ input: 1 }, { input: 2 }, 'output'], [indices * dim, dim], Math.ceil((indices * dim) / (TOGETHER * THREADS)))
    return joinPrograms([copy, { scratchBytes: [], steps: [add] }])
  },
}
export default kernel
