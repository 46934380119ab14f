import { step, widthFor, entry, header, storage, working, type Width } from '../../wgsl/header'
import { tilePlace } from '../../wgsl/tile-place'
import { dimOf, type Kernel } from '../types'
import { outerProduct } from './outer'
import { acrossProduct } from './across'
import { byMatrices } from './by-matrices'
import { joinedParts } from './joined'
import { longProduct } from './long'
import { thinProduct } from './thin'
import { blocksOf, chunkOf, partsOfProduct, threadsOf, tilesFor, type Tile } from './tiles'

/** Rows and columns from which on matrices of subgroups stand well filled, those from which on many multiply-adds are worth it, and steps of k. */
const FULL_MATRICES = { sides: 64, some: 32, flops: 2 ** 26, steps: 32 }

function fillsMatrices(batch: number, m: number, n: number, k: number): boolean {
  const side = Math.min(m, n)
  return k >= FULL_MATRICES.steps && (side >= FULL_MATRICES.sides || (side >= FULL_MATRICES.some && batch * m * n * k >= FULL_MATRICES.flops))
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, m, n, k] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
    const [transA, transB] = [dimOf(shape, 4) === 1, dimOf(shape, 5) === 1]
    const thin = (fillsMatrices(batch, m, n, k) ? byMatrices(shape) : undefined) ?? outerProduct(shape) ?? acrossProduct(shape) ?? thinProduct(shape) ?? longProduct(shape)
    if (thin) return thin
    const { tile, tilesM, tilesN } = tilesFor(batch, m, n, k)
    const chunk = chunkOf(k, partsOfProduct(batch * tilesM * tilesN, k))
    const parts = Math.ceil(k / chunk)
    const wgsl = matmulText({
      dtype: shape.dtype === 'f16' ? 'f16' : 'f32',
      transA,
      transB,
      widthA: widthFor(transA ? m : k),
      widthB: widthFor(transB ? k : n),
      widthOut: widthFor(n),
      spread: widthFor(n) === 1,
      tile,
      split: parts > 1,
    })
    if (parts > 1) return joinedParts(step(wgsl, [{ input: 0 }, { input: 1 }, { scratch: 0 }], [m, n, k, tilesM, tilesN, batch * parts, parts, chunk], batch * parts * tilesM * tilesN), shape, batch, m * n, parts)
    return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [m, n, k, tilesM, tilesN, batch], batch * tilesM * tilesN)] }
  },
}
export default kernel

/** WGSL that brings a part of B into `tile_b[k][column / 4][column % 4]`, or `tile_b[k][column % q][column / q]` with a quarter q of the columns where these are spread out: functions, and statements of a thread before the loop and for the steps from `at` on, first to read and then to store. */
export interface Gather {
  functions: string
  stage(tile: Tile, isSpread: boolean): { before: string; load: string; store: string }
}

/** Everything the text of a matmul kernel depends on. */
export interface Variant {
  dtype: 'f32' | 'f16'
  transA: boolean
  transB: boolean
  widthA: Width
  widthB: Width
  widthOut: Width
  /** Where A begins, of other products than one for each; `product` is the number of the product. */
  baseA?: string
  /** How a B that is no matrix in memory comes into workgroup memory. */
  gather?: Gather
  /** WGSL of a function place(product, row, column) where results are no matrix either; then widthOut is 1. */
  place?: string
  tile: Tile
  /**
   * A thread's four columns are a quarter of the tile's apart, so that neighbours write neighbouring elements where rows are no whole vectors; then widthOut is 1.
   * Four columns beside each other write every fourth element at a time.
   */
  spread?: boolean
  /** Each product in several parts along k, which lie behind each other in f32: dim(6) parts of dim(7) steps, a multiple of every depth. */
  split?: boolean
}

const SIDE = [0, 1, 2, 3]

/**
 * Four elements of row `row` from column `col` on, `apart` from each other; 0 outside the matrix.
 * A vector load needs neighbours, and the row length to be a multiple of four.
 */
const loader = (name: string, width: Width, apart = 1) =>
  width === 4
    ? `fn load_${name}(base: u32, row: u32, col: u32, rows: u32, cols: u32) -> vec4<f32> {
  if (row >= rows || col >= cols) { return vec4<f32>(0.0); }
  return vec4<f32>(${name}[(base + row * cols + col) / 4u]);
}`
    : `fn load_${name}(base: u32, row: u32, col: u32, rows: u32, cols: u32) -> vec4<f32> {
  var v = vec4<f32>(0.0);
  if (row >= rows) { return v; }
  let at = base + row * cols + col;
${SIDE.map((j) => `  if (col + ${j * apart}u < cols) { v[${j}] = f32(${name}[at + ${j * apart}u]); }`).join('\n')}
  return v;
}`

/**
 * A tile of A or B is fetched as blocks of 4x4. `alongK` says that the matrix is stored with k running fastest; then a block is turned
 * over on its way into workgroup memory, where both tiles lie as [k][row or column]. `block` is the number of the block, `r` the prefix of
 * the registers that hold it. The four rows or columns of a block are neighbours, or as many apart from each other as there are blocks side by side.
 */
function fetch(name: 'a' | 'b', size: number, depth: number, alongK: boolean, block: string, r: string, isSpread = false): { load: string; store: string } {
  const [k4, s4] = alongK ? [`${block} % ${depth / 4}u`, `${block} / ${depth / 4}u`] : [`${block} / ${size / 4}u`, `${block} % ${size / 4}u`]
  const [extent, first] = name === 'a' ? ['m', 'first_row'] : ['n', 'first_column']
  const side = isSpread ? `${first} + (${s4})` : `${first} + (${s4}) * 4u`
  const load = SIDE.map((j) => `${r}${j} = load_${name}(base_${name}, ${alongK ? `${side} + ${isSpread ? (j * size) / 4 : j}u, at + (${k4}) * 4u, ${extent}, k` : `at + (${k4}) * 4u + ${j}u, ${side}, k, ${extent}`});`).join(' ')
  const columns = ['x', 'y', 'z', 'w'].map((c) => `vec4<f32>(${r}0.${c}, ${r}1.${c}, ${r}2.${c}, ${r}3.${c})`)
  const store = SIDE.map((j) => `tile_${name}[(${k4}) * 4u + ${j}u][${s4}] = ${alongK ? columns[j]! : `${r}${j}`};`).join(' ')
  return { load, store }
}

/** The registers of each round of blocks that the threads fetch. */
const ROUNDS = ['r', 's', 't', 'u']

/** Every thread's share of the tiles of A and, unless it is gathered, of B. */
function fetched({ tile, transA, transB, gather, spread = false }: Variant, threads: number): { rounds: string[]; shares(what: 'load' | 'store'): string } {
  const { rows, columns, depth } = tile
  const { ofA, firstB, ofB, rounds: most } = blocksOf(tile)
  const blocks = gather ? ofA : firstB + ofB
  const rounds = ROUNDS.slice(0, gather ? Math.ceil(ofA / threads) : most)
  const shares = (what: 'load' | 'store') =>
    rounds.map((r, i) => {
      const block = i === 0 ? 'lane' : `(lane + ${i * threads}u)`
      const a = () => fetch('a', rows, depth, !transA, block, r)[what]
      const b = () => fetch('b', columns, depth, transB, `(${block} - ${firstB}u)`, r, spread)[what]
      const last = (i + 1) * threads > blocks ? `if (${block} < ${blocks}u) ` : ''
      if ((i + 1) * threads <= ofA || gather) return `      ${last}{ ${a()} }`
      if (i * threads >= firstB) return `      ${last}{ ${b()} }`
      return `      if (${block} < ${ofA}u) { ${a()} } else ${firstB > ofA ? `if (${block} >= ${firstB}u) { ${last}{ ${b()} } }` : `${last}{ ${b()} }`}`
    }).join('\n')
  return { rounds, shares }
}

/**
 * out = A B, each thread computing blocks of 4x4 outputs (tiles.ts). The next steps' elements are fetched into
 * registers while these are multiplied. The arrays in workgroup memory are nested and the steps of k unrolled, so that the checks of indices
 * that a browser adds are needed once, not at each step: 1.5x faster on an H200 at 4096. A second set of operands is slower there.
 */
export function matmulText(v: Variant): string {
  const { rows, columns, depth } = v.tile
  const { high, wide, threads, ...blocks } = threadsOf(v.tile)
  const result = v.split ? 'f32' : v.dtype
  const [down, across] = [blocks.down, blocks.across].map((count) => Array.from({ length: count }, (_, i) => i)) as [number[], number[]]
  const bindings = [{ name: 'a', type: storage(v.dtype, v.widthA) }, { name: 'b', type: storage(v.dtype, v.widthB) }, { name: 'out', type: storage(result, v.widthOut), write: true }]
  const { rounds, shares } = fetched(v, threads)
  const { spread = false } = v
  const gathered = v.gather?.stage(v.tile, spread)
  const apart = spread ? columns / 4 : 1
  const each = (text: (r: number, i: number, c: number) => string) => down.flatMap((r) => SIDE.flatMap((i) => across.map((c) => text(r, i, c)))).join('\n')
  const multiply = Array.from({ length: depth }, (_, l) => `      {
${down.map((r) => `        let a${r} = tile_a[${l}u][y + ${r * high}u];`).join('\n')}
${across.map((c) => `        let b${c} = tile_b[${l}u][x + ${c * wide}u];`).join('\n')}
${each((r, i, c) => `        sum_${r}_${i}_${c} = fma(vec4<f32>(a${r}[${i}]), b${c}, sum_${r}_${i}_${c});`)}
      }`).join('\n')
  const write = (r: number, i: number, c: number) => {
    const at = `first_row + ${r * 4 * high + i}u + y * 4u, first_column + ${spread ? `${c * wide}u + x` : `${c * 4 * wide}u + x * 4u`}`
    return `  store(base_out, ${at}, m, n, sum_${r}_${i}_${c});`
  }
  const store =
    v.widthOut === 4
      ? `  if (row < rows && col < cols) { out[(base + row * cols + col) / 4u] = ${storage(result, 4)}(value); }`
      : `  if (row >= rows) { return; }\n${SIDE.map((j) => `  if (col + ${j * apart}u < cols) { out[${v.place ? `place(base, row, col + ${j * apart}u)` : `base + row * cols + col + ${j * apart}u`}] = ${storage(result, 1)}(value[${j}]); }`).join('\n')}`
  const array = (size: number) => `array<array<${working(4)}, ${size / 4}>, ${depth}>`
  const loop = `  loop {
    if (at < end) {
${shares('load')}${gathered ? `\n${gathered.load}` : ''}
    }
    if (at > start) {
${multiply}
      workgroupBarrier();
    }
    if (at >= end) { break; }
${shares('store')}${gathered ? `\n${gathered.store}` : ''}
    workgroupBarrier();
    at += ${depth}u;
  }`
  return `${header(bindings, v.dtype === 'f16')}
var<workgroup> tile_a: ${array(rows)};
var<workgroup> tile_b: ${array(columns)};
${loader('a', v.widthA)}
${v.gather?.functions ?? loader('b', v.widthB, v.transB ? 1 : apart)}
${v.place ?? ''}fn store(base: u32, row: u32, col: u32, rows: u32, cols: u32, value: vec4<f32>) {
${store}
}
${entry(`${tilePlace(rows, columns, v.split === true)}
  let base_a = ${v.baseA ?? 'product * m * k'};
${v.gather ? '' : '  let base_b = product * k * n;\n'}  let base_out = ${v.place ? 'product' : 'batch_number * m * n'};
  let x = lane % ${wide}u;
  let y = lane / ${wide}u;
${each((r, i, c) => `  var sum_${r}_${i}_${c} = vec4<f32>(0.0);`)}
${rounds.map((r) => SIDE.map((j) => `  var ${r}${j}: vec4<f32>;`).join('\n')).join('\n')}
${gathered?.before ?? ''}  var at = start;
${loop}
${each(write)}`, threads)}`
}
