import type { KernelShape, SubgroupMatrices } from '../../kernels/types'
import { tilePlace } from '../tile-place'
import { entry, header, numbers, THREADS, WORKGROUP_BYTES, type Binding } from '../header'
import { keptText, linesOf, memoryFor, operandText, rowStride, strideOf, VECTOR_BYTES, type MatrixOperand } from './tile'
import type { MatrixTile } from './plan'
import { MATRIX_DIRECTIVES, matricesOf, matrixTypes, multiplied, storeMatrix } from './words'

/** Threads of a workgroup. */
export const threadsOfTile = ({ rows, columns, high, wide }: MatrixTile, subgroups: number): number => (rows / high) * (columns / wide) * subgroups

/** Vectors that the results of one row of a subgroup's matrices take. */
const bandOf = ({ wide }: MatrixTile, { m }: SubgroupMatrices): number => m * strideOf(wide / 4)

/** Vectors of workgroup memory: both operands, and then at least a row of matrices of each subgroup. */
function memoryOf(tile: MatrixTile, matrices: SubgroupMatrices, a: MatrixOperand, b: MatrixOperand): { ofA: number; all: number } {
  const vectorsOf = (side: number, { alongK }: MatrixOperand) => {
    const { lines, vectors } = linesOf(side, tile.depth, alongK, matrices.component)
    return lines * strideOf(vectors)
  }
  const ofA = vectorsOf(tile.rows, a)
  return { ofA, all: Math.max(ofA + vectorsOf(tile.columns, b), (tile.rows / tile.high) * (tile.columns / tile.wide) * bandOf(tile, matrices)) }
}

/** The matrices that a device multiplies a tile with; undefined where it offers none that fit, or has too little workgroup memory or too few threads. */
export function matricesForTile(tile: MatrixTile, component: SubgroupMatrices['component'], a: MatrixOperand, b: MatrixOperand, shape: Pick<KernelShape, 'matrices' | 'subgroups' | 'threads' | 'workgroupBytes'>): SubgroupMatrices | undefined {
  const matrices = matricesOf(shape, component, { m: tile.high, n: tile.wide, k: tile.depth })
  if (!matrices || !shape.subgroups || threadsOfTile(tile, shape.subgroups) > Math.max(THREADS, shape.threads ?? 0)) return undefined
  return VECTOR_BYTES * memoryOf(tile, matrices, a, b).all <= (shape.workgroupBytes ?? WORKGROUP_BYTES) ? matrices : undefined
}

/** Everything the text of a product by matrices depends on. */
export interface MatrixProduct {
  matrices: SubgroupMatrices
  tile: MatrixTile
  subgroups: number
  a: MatrixOperand
  b: MatrixOperand
  /** Whether some part of k ends within the steps of a tile. */
  partial: boolean
  /** Each product in several parts along k, which lie behind each other: dim(6) parts of dim(7) steps, a multiple of the depth. */
  split: boolean
  /** Bindings behind those of the operands. */
  bindings: readonly Binding[]
  f16: boolean
  /** Functions that `put` calls, and a call that writes results of `row` from `column` on, both within the output: `value` is a vector of four sums, or one sum. */
  functions: string
  put: string
  /** Whether `put` takes vectors. */
  vectors: boolean
}

/**
 * out = A B by subgroup matrices. A tile's operands lie in workgroup memory as they do in the tensors, so that matrices are loaded by rows or by columns; the next
 * ones are fetched while these are multiplied. Sums leave through the same memory. dims: m, n, k, tiles along m and along n, products times parts, parts, steps of a part.
 */
export function matrixProductText({ matrices, tile, subgroups, a, b, partial, split, bindings, f16, functions, put, vectors }: MatrixProduct): string {
  const { result, m: M, n: N, k: K } = matrices
  const threads = threadsOfTile(tile, subgroups)
  const [high, wide, beside] = [tile.high / M, tile.wide / N, tile.columns / tile.wide]
  const [rows, columns] = [numbers(high), numbers(wide)]
  const { ofA, all } = memoryOf(tile, matrices, a, b)
  const types = matrixTypes(matrices)
  const memory = memoryFor(matrices.component, [a, b])
  const of = { component: matrices.component, threads, subgroups, depth: tile.depth, partial, memory }
  const ofAs = operandText({ ...of, name: 'a', side: tile.rows, before: 0, operand: a, extent: 'm', first: 'first_row' })
  const ofBs = operandText({ ...of, name: 'b', side: tile.columns, before: ofA, operand: b, extent: 'n', first: 'first_column' })
  const multiply = numbers(tile.depth / K).map((s) => `      {
${rows.map((i) => `        let l${i} = ${ofAs.matrix(types.left, 'my_row', i * M, s * K, !a.alongK)};`).join('\n')}
${columns.map((j) => `        let r${j} = ${ofBs.matrix(types.right, 'my_column', j * N, s * K, b.alongK)};`).join('\n')}
${rows.flatMap((i) => columns.map((j) => `        sum_${i}_${j} = ${multiplied(`l${i}`, `r${j}`, `sum_${i}_${j}`)};`)).join('\n')}
      }`).join('\n')
  const band = bandOf(tile, matrices)
  const [stride, share] = [strideOf(tile.wide / 4), Math.floor(all / (threads / subgroups))]
  const together = Math.min(high, Math.floor(share / band))
  const [unit, across] = vectors ? [4, tile.wide / 4] : [1, tile.wide]
  const leave = numbers(Math.ceil(high / together)).map((round) => {
    const here = rows.slice(round * together, (round + 1) * together)
    return `${round > 0 ? '  workgroupBarrier();\n' : ''}${here.flatMap((i, at) => columns.map((j) => `  ${storeMatrix('memory', `(mine + ${at * band + (j * N) / 4}u)${memory.scaled}`, `sum_${i}_${j}`, `${stride * memory.units}u`)}`)).join('\n')}
  workgroupBarrier();
  for (var e = lane % ${subgroups}u; e < ${here.length * M * across}u; e += ${subgroups}u) {
    let r = e / ${across}u;
    let c = e % ${across}u;
    let row = first_row + my_row + ${here[0]! * M}u + r;
    let column = first_column + my_column + c * ${unit}u;
    if (row < m && column < n) { let value = ${vectors ? `bitcast<vec4<${result}>>(${memory.vector(`mine + r * ${stride}u + c`)})` : `bitcast<${result}>(${memory.word(`mine + r * ${stride}u + c / 4u`, 'c % 4u')})`}; ${put} }
  }`
  }).join('\n')
  return `${MATRIX_DIRECTIVES}${header([{ name: 'a', type: ofAs.type }, { name: 'b', type: ofBs.type }, ...bindings], f16, true)}
var<workgroup> memory: array<${memory.type}, ${all * memory.units}>;
${partial ? keptText(matrices.component) : ''}${functions}${entry(`${tilePlace(tile.rows, tile.columns, split)}
  let row_a = ${rowStride(a, a.alongK ? 'k' : 'm')};
  let row_b = ${rowStride(b, b.alongK ? 'k' : 'n')};
  let base_a = product * ${a.alongK ? 'm' : 'k'} * row_a;
  let base_b = product * ${b.alongK ? 'n' : 'k'} * row_b;
  let base_out = batch_number * m * n;
  let subgroup = lane / ${subgroups}u;
  let place = lane % ${subgroups}u;
  let my_row = subgroup / ${beside}u * ${tile.high}u;
  let my_column = subgroup % ${beside}u * ${tile.wide}u;
${rows.flatMap((i) => columns.map((j) => `  var sum_${i}_${j} = ${types.sums}();`)).join('\n')}
${ofAs.declared}
${ofBs.declared}
  var at = start;
  loop {
    if (at < end) {
${ofAs.load}
${ofBs.load}
    }
    if (at > start) {
${multiply}
      workgroupBarrier();
    }
    if (at >= end) { break; }
${ofAs.store}
${ofBs.store}
    workgroupBarrier();
    at += ${tile.depth}u;
  }
  let mine = subgroup * ${share}u;
${leave}`, threads)}`
}
