import type { KernelShape, SubgroupMatrices } from '../kernels/types'
import { entry, header, numbers, WORKGROUP_BYTES, type Binding } from './header'
import { elementsOf, keptText, strideOf, VECTOR_BYTES, vectorReads } from './matrix-tile'
import type { MatrixTile } from './matrix-plan'
import { loadMatrix, MATRIX_DIRECTIVES, matricesOf, matrixTypes, multiplied, storeMatrix } from './subgroup-matrix'

/** Threads of a workgroup. */
export const threadsOfTile = ({ rows, columns, high, wide }: MatrixTile, subgroups: number): number => (rows / high) * (columns / wide) * subgroups

/** An operand: the length of its rows in memory, and whether k runs along them. */
export interface MatrixOperand {
  row: number
  alongK: boolean
}

/** Lines of a tile of an operand as it lies in memory, and vectors of each. */
function linesOf(side: number, depth: number, alongK: boolean, component: SubgroupMatrices['component']): { lines: number; vectors: number } {
  const [lines, length] = alongK ? [side, depth] : [depth, side]
  return { lines, vectors: length / elementsOf(component) }
}

/** Vectors that the results of one row of a subgroup's matrices take. */
const bandOf = ({ wide }: MatrixTile, { m }: SubgroupMatrices): number => m * strideOf(wide / 4)

/** Vectors of workgroup memory: both operands, and then at least a row of matrices of each subgroup. */
function memoryOf(tile: MatrixTile, matrices: SubgroupMatrices, a: MatrixOperand, b: MatrixOperand, copies = 1): { ofA: number; both: number; all: number } {
  const vectorsOf = (side: number, { alongK }: MatrixOperand) => {
    const { lines, vectors } = linesOf(side, tile.depth, alongK, matrices.component)
    return lines * strideOf(vectors)
  }
  const ofA = vectorsOf(tile.rows, a)
  const both = ofA + vectorsOf(tile.columns, b)
  return { ofA, both, all: Math.max(copies * both, (tile.rows / tile.high) * (tile.columns / tile.wide) * bandOf(tile, matrices)) }
}

/** The matrices that a device multiplies a tile with; undefined where it offers none that fit, or has too little workgroup memory or too few threads. */
export function matricesForTile(tile: MatrixTile, component: SubgroupMatrices['component'], a: MatrixOperand, b: MatrixOperand, shape: Pick<KernelShape, 'matrices' | 'subgroups' | 'threads' | 'workgroupBytes'>): SubgroupMatrices | undefined {
  const matrices = matricesOf(shape, component, { m: tile.high, n: tile.wide, k: tile.depth })
  if (!matrices || !shape.subgroups || threadsOfTile(tile, shape.subgroups) > Math.max(256, shape.threads ?? 0)) return undefined
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
  /** Sets of operands in workgroup memory: of two, one is written while the other is multiplied. */
  copies?: 1 | 2
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
export function matrixProductText({ matrices, tile, subgroups, a, b, partial, split, bindings, f16, functions, put, vectors, copies = 1 }: MatrixProduct): string {
  const { component, result, m: M, n: N, k: K } = matrices
  const each = elementsOf(component)
  const threads = threadsOfTile(tile, subgroups)
  const [high, wide, beside] = [tile.high / M, tile.wide / N, tile.columns / tile.wide]
  const [rows, columns] = [numbers(high), numbers(wide)]
  const { ofA, both, all } = memoryOf(tile, matrices, a, b, copies)
  const types = matrixTypes(matrices)
  const operand = (name: 'a' | 'b', { alongK, row }: MatrixOperand, side: number) => {
    const { lines, vectors: across } = linesOf(side, tile.depth, alongK, component)
    const [extent, first, base, before] = name === 'a' ? ['m', 'first_row', 'base_a', 0] : ['n', 'first_column', 'base_b', ofA]
    const rounds = numbers(Math.ceil((lines * across) / threads))
    const inRound = (i: number, text: string) => `      ${(i + 1) * threads > lines * across ? `if (lane < ${lines * across - i * threads}u) ` : ''}{ let c = lane + ${i * threads}u; let line = c / ${across}u; let x = c % ${across}u; ${text} }`
    const along = `let l = at + x * ${each}u; let v = vector_of_${name}(${base} + min(${first} + line, ${extent} - 1u) * k + l);`
    const acrossK = `let l = at + line; let v = vector_of_${name}(${base} + ${partial ? 'min(l, k - 1u)' : 'l'} * ${extent} + ${first} + x * ${each}u);`
    const kept = !partial ? 'v' : alongK ? 'kept(v, max(l, end) - l)' : 'select(vec4<u32>(0u), v, l < end)'
    const stride = strideOf(across)
    return {
      reads: vectorReads(name, component, row),
      declared: rounds.map((i) => `  var ${name}_${i}: vec4<u32>;`).join('\n'),
      load: rounds.map((i) => inRound(i, `${alongK ? along : acrossK} ${name}_${i} = ${kept};`)).join('\n'),
      store: rounds.map((i) => inRound(i, `memory[${copies === 2 ? 'to + ' : ''}${before}u + line * ${stride}u + x] = ${name}_${i};`)).join('\n'),
      /** Matrix `i` along the side from `own` on, of step `s` of k. */
      matrix: (type: string, own: string, size: number, i: number, s: number, turned: boolean) =>
        loadMatrix(type, 'memory', `${copies === 2 ? 'source + ' : ''}` + (alongK ? `${before}u + (${own} + ${i * size}u) * ${stride}u + ${(s * K) / each}u` : `${before + s * K * stride}u + (${own} + ${i * size}u) / ${each}u`), `${stride}u`, turned),
    }
  }
  const [ofAs, ofBs] = [operand('a', a, tile.rows), operand('b', b, tile.columns)]
  const multiply = numbers(tile.depth / K).map((s) => `      {
${rows.map((i) => `        let l${i} = ${ofAs.matrix(types.left, 'my_row', M, i, s, !a.alongK)};`).join('\n')}
${columns.map((j) => `        let r${j} = ${ofBs.matrix(types.right, 'my_column', N, j, s, b.alongK)};`).join('\n')}
${rows.flatMap((i) => columns.map((j) => `        sum_${i}_${j} = ${multiplied(`l${i}`, `r${j}`, `sum_${i}_${j}`)};`)).join('\n')}
      }`).join('\n')
  const band = bandOf(tile, matrices)
  const [stride, share] = [strideOf(tile.wide / 4), Math.floor(all / (threads / subgroups))]
  const together = Math.min(high, Math.floor(share / band))
  const [unit, across] = vectors ? [4, tile.wide / 4] : [1, tile.wide]
  const vector = `bitcast<vec4<${result}>>(memory[mine + r * ${stride}u + c / ${4 / unit}u])`
  const leave = numbers(Math.ceil(high / together)).map((round) => {
    const here = rows.slice(round * together, (round + 1) * together)
    return `${round > 0 ? '  workgroupBarrier();\n' : ''}${here.flatMap((i, at) => columns.map((j) => `  ${storeMatrix('memory', `mine + ${at * band + (j * N) / 4}u`, `sum_${i}_${j}`, `${stride}u`)}`)).join('\n')}
  workgroupBarrier();
  for (var e = lane % ${subgroups}u; e < ${here.length * M * across}u; e += ${subgroups}u) {
    let r = e / ${across}u;
    let c = e % ${across}u;
    let row = first_row + my_row + ${here[0]! * M}u + r;
    let column = first_column + my_column + c * ${unit}u;
    if (row < m && column < n) { let value = ${vectors ? vector : `${vector}[c % 4u]`}; ${put} }
  }`
  }).join('\n')
  const once = `  loop {
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
  }`
  const twice = `  var to = 0u;
  {
${ofAs.load}
${ofBs.load}
${ofAs.store}
${ofBs.store}
  }
  loop {
    workgroupBarrier();
    let source = to;
    at += ${tile.depth}u;
    if (at < end) {
${ofAs.load}
${ofBs.load}
    }
${multiply}
    if (at >= end) { break; }
    to = ${both}u - source;
${ofAs.store}
${ofBs.store}
  }
  workgroupBarrier();`
  return `${MATRIX_DIRECTIVES}${header([{ name: 'a', type: ofAs.reads.type }, { name: 'b', type: ofBs.reads.type }, ...bindings], f16, true)}
var<workgroup> memory: array<vec4<u32>, ${all}>;
${ofAs.reads.functions}${ofBs.reads.functions}${partial && (a.alongK || b.alongK) ? keptText(component) : ''}${functions}${entry(`  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let tiles_m = dim(3u);
  let tiles_n = dim(4u);
  let batch_number = group / (tiles_m * tiles_n);
  if (batch_number >= dim(5u)) { return; }
  let tile = group % (tiles_m * tiles_n);
  // Eight rows of tiles at a time, column by column, so that tiles computed together share what the cache holds.
  let band = tile / (8u * tiles_n);
  let band_rows = min(tiles_m - band * 8u, 8u);
  let first_row = (band * 8u + tile % (8u * tiles_n) % band_rows) * ${tile.rows}u;
  let first_column = tile % (8u * tiles_n) / band_rows * ${tile.columns}u;
  let product = ${split ? 'batch_number / dim(6u)' : 'batch_number'};
  let start = ${split ? 'batch_number % dim(6u) * dim(7u)' : '0u'};
  let end = ${split ? 'min(k, start + dim(7u))' : 'k'};
  let base_a = product * m * k;
  let base_b = product * k * n;
  let base_out = batch_number * m * n;
  let subgroup = lane / ${subgroups}u;
  let my_row = subgroup / ${beside}u * ${tile.high}u;
  let my_column = subgroup % ${beside}u * ${tile.wide}u;
${rows.flatMap((i) => columns.map((j) => `  var sum_${i}_${j} = ${types.sums}();`)).join('\n')}
${ofAs.declared}
${ofBs.declared}
  var at = start;
${copies === 2 ? twice : once}
  let mine = subgroup * ${share}u;
${leave}`, threads)}`
}
