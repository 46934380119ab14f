import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { EXCHANGE, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import { joinPrograms } from '../../wgsl/row-op/steps'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { byRow, planByRow } from './by-row'
import { planCrowded, inParts } from './crowded'
import { fewRows } from './few-rows'
import { linked, listsOf, planLinked } from './linked'
import { ofRow, planOfRow } from './of-row'
import { ownColumns, planOwnColumns } from './own-columns'

/** WGSL adds only integers atomically: a float is exchanged until no other thread came in between. Elements that a thread adds: their reads and first exchanges are on their way together. */
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

/** Sources for each row from which on threads would wait for each other in memory. */
const CROWDED = 8
/** Sources of a list up to which it takes no longer to walk than sums in workgroup memory. */
const LONGEST_WALK = 32
/** Elements of a row below which lists pay for crowded rows alone, and rows of a source, whose lists are looked at, that are still worth fewer exchanges. */
const FEWEST_OF_FEW = 4
const MOST_ROWS_OF_A_SOURCE = 4
/** Rows whose sums in registers of threads cost less than lists whatever the number of their sources. */
const FEW_ROWS = 32

/** Rows from which on sums in registers take longer than lists of the sources of each. */
const FEWEST_OWN_ROWS = 9

/** Workgroups, one for each row, that leave some of a device idle; sources of a row and elements in all from which on it is worth three dispatches that do not. */
const FEWEST_GROUPS = 132
const MANY_SOURCES = 64
const WORTH_ORDERING = 2 ** 20

/** Comparisons of cells with indices that take no longer than a second dispatch, and those of a thread at most, and at least while threads are few: threads of a workgroup at most share a cell. */
const MOST_COMPARED = 2 ** 24
const COMPARED = 64
const LEAST_COMPARED = 4
const FEW_THREADS = 2 ** 16
/** Rows of which a source is read before it is known whether it belongs to the row. */
const OFTEN_OF_ROW = 8

/** Little to add: threads share each cell of the output, and look for the sources of its row. Undefined where that is much. */
function searched(shape: KernelShape, rows: number, dim: number, indices: number): Program | undefined {
  const type = storage(shape.dtype, 1)
  if (rows * dim * indices > MOST_COMPARED || indices > COMPARED * THREADS) return undefined
  let lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(indices / COMPARED)))
  while (lanes < THREADS && indices > LEAST_COMPARED * lanes && 2 * lanes * rows * dim <= FEW_THREADS) lanes *= 2
  const cells = THREADS / lanes
  const four = [0, 1, 2, 3]
  const wgsl = `${header([{ name: 'x', type }, { name: 'indices', type: 'i32' }, { name: 'src', type }, { name: 'out', type, write: true }], type === 'f16', shape.subgroups !== undefined)}${EXCHANGE}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups)}
${entry(`  let cell = group * ${cells}u + lane / ${lanes}u;
  let live = cell < dim(0u);
  let row = i32(cell / dim(1u));
  let column = cell % dim(1u);
  let before = f32(x[min(cell, dim(0u) - 1u)]);
  var sum = 0.0;
  for (var s = lane % ${lanes}u; s < dim(2u); s += ${4 * lanes}u) {
${four.map((u) => `    let at_${u} = indices[min(s + ${u * lanes}u, dim(2u) - 1u)];`).join('\n')}
${rows <= OFTEN_OF_ROW ? four.map((u) => `    let v_${u} = f32(src[min(s + ${u * lanes}u, dim(2u) - 1u) * dim(1u) + column]);`).join('\n') : ''}
${four.map((u) => rows <= OFTEN_OF_ROW ? `    sum += select(0.0, v_${u}, at_${u} == row && s + ${u * lanes}u < dim(2u));` : `    if (at_${u} == row && s + ${u * lanes}u < dim(2u)) { sum += f32(src[(s + ${u * lanes}u) * dim(1u) + column]); }`).join('\n')}
  }
  let total = reduce_sum(sum, lane);
  if (live && lane % ${lanes}u == 0u) { out[cell] = ${type}(before + total); }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [rows * dim, dim, indices], Math.ceil((rows * dim) / cells))] }
}

/** A copy of x with every source added to its place. The order of the additions of f32 is open; halves, which have no atomic exchanges, are added up in an order of their own, or exactly. */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [rows, dim, indices] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const { dtype } = shape
    const own = dtype === 'f32' ? planOfRow(rows, dim, indices) : undefined
    const isListed = own && rows >= FEWEST_OWN_ROWS && rows * own.blocks >= FEWEST_GROUPS
    const few = searched(shape, rows, dim, indices) ?? (!isListed && rows <= FEW_ROWS ? fewRows(rows, dim, indices, dtype) : undefined)
    if (few) return few
    const idle = own && rows * own.blocks < FEWEST_GROUPS && indices >= MANY_SOURCES * rows && indices * dim >= WORTH_ORDERING ? planByRow(rows, dim, indices, shape) : undefined
    if (idle) return byRow(rows, dim, indices, idle)
    if (own) return ofRow(dim, rows, indices, own)
    const isCrowded = indices > CROWDED * rows
    const crowded = isCrowded ? planCrowded(rows, dim, indices, dtype) : undefined
    const lists = planLinked(dim, indices / rows)
    if (lists && (!crowded || indices <= LONGEST_WALK * lists.lists * rows)) return linked(rows, indices, dim, lists, dtype)
    const ordered = isCrowded && dtype === 'f32' && planByRow(rows, dim, indices, shape)
    if (ordered) return byRow(rows, dim, indices, ordered)
    const columns = crowded && planOwnColumns(rows, dim, indices)
    if (columns) return ownColumns(rows, dim, indices, columns, dtype)
    const registers = crowded && fewRows(rows, dim, indices, dtype)
    if (registers) return registers
    if (crowded && (crowded.ranges === 1 || dim === 1 || dtype === 'f16')) return inParts(rows, dim, indices, crowded, dtype)
    if (dtype === 'f16' || (dim < FEWEST_OF_FEW ? isCrowded && dim > 1 : rows <= MOST_ROWS_OF_A_SOURCE * indices)) return linked(rows, indices, dim, listsOf(dim, indices / rows), dtype)
    const copy = mapped({ tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'out', at: 'output', type: 'own4', write: true }], body: '  out[i] = x[i];' }, dtype, Math.ceil((rows * dim) / 4))
    const add = step(ADD, [{ input: 1 }, { input: 2 }, 'output'], [indices * dim, dim], Math.ceil((indices * dim) / (TOGETHER * THREADS)))
    return joinPrograms([copy, { scratchBytes: [], steps: [add] }])
  },
}
export default kernel
