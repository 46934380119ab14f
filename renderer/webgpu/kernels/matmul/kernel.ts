import { step, widthFor, entry, header, storage, working, type Width } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, m, n, k] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
    const [transA, transB] = [dimOf(shape, 4) === 1, dimOf(shape, 5) === 1]
    const { tile, tilesM, tilesN } = tilesFor(batch, m, n)
    const wgsl = matmulText({
      dtype: shape.dtype === 'f16' ? 'f16' : 'f32',
      transA,
      transB,
      widthA: widthFor(transA ? m : k),
      widthB: widthFor(transB ? k : n),
      widthOut: widthFor(n),
      tile,
    })
    return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [m, n, k, tilesM, tilesN, batch], batch * tilesM * tilesN)] }
  },
}
export default kernel

/** Everything the text of a matmul kernel depends on. */
export interface Variant {
  dtype: 'f32' | 'f16'
  transA: boolean
  transB: boolean
  widthA: Width
  widthB: Width
  widthOut: Width
  /** Reads of B that are no matrix in memory: a WGSL function load_b, which gets the number of the product as its base, and where A begins. */
  gathered?: { loadB: string; baseA: string }
  /** Rows and columns of the output that a workgroup computes. */
  tile: 64 | 128
}

/** Steps of k that lie in workgroup memory: tile * depth * 2 f32 are the 16 KiB that every adapter has. */
const depthOf = (tile: number) => 2048 / tile

/** Large tiles read less per output, but only pay when there are enough of them to fill a device. */
const ENOUGH_LARGE_TILES = 128

/** The tile for `batch` products [m, n], and how many of them lie along m and n. */
export function tilesFor(batch: number, m: number, n: number): { tile: 64 | 128; tilesM: number; tilesN: number } {
  const tile = batch * Math.ceil(m / 128) * Math.ceil(n / 128) >= ENOUGH_LARGE_TILES ? 128 : 64
  return { tile, tilesM: Math.ceil(m / tile), tilesN: Math.ceil(n / tile) }
}

const SIDE = [0, 1, 2, 3]

/**
 * Four consecutive elements of row `row` from column `col` on; 0 outside the matrix.
 * A vector load needs the row length to be a multiple of four.
 */
const loader = (name: string, width: Width) =>
  width === 4
    ? `fn load_${name}(base: u32, row: u32, col: u32, rows: u32, cols: u32) -> vec4<f32> {
  if (row >= rows || col >= cols) { return vec4<f32>(0.0); }
  return vec4<f32>(${name}[(base + row * cols + col) / 4u]);
}`
    : `fn load_${name}(base: u32, row: u32, col: u32, rows: u32, cols: u32) -> vec4<f32> {
  var v = vec4<f32>(0.0);
  if (row >= rows) { return v; }
  let at = base + row * cols + col;
${SIDE.map((j) => `  if (col + ${j}u < cols) { v[${j}] = f32(${name}[at + ${j}u]); }`).join('\n')}
  return v;
}`

/**
 * Each of 256 threads fetches one 4x4 block of A (threads 0-127) or B (128-255) per step. `alongK` says that the
 * matrix is stored with k running fastest; then the block is turned over on its way into workgroup memory, where
 * both tiles lie as [k][row or column].
 */
function fetch(name: 'a' | 'b', tile: number, alongK: boolean): { load: string; store: string } {
  const depth = depthOf(tile)
  const index = name === 'a' ? 'lane' : '(lane - 128u)'
  const [k4, s4] = alongK ? [`${index} % ${depth / 4}u`, `${index} / ${depth / 4}u`] : [`${index} / ${tile / 4}u`, `${index} % ${tile / 4}u`]
  const [size, first] = name === 'a' ? ['m', 'first_row'] : ['n', 'first_column']
  const side = `${first} + (${s4}) * 4u`
  const load = SIDE.map((j) => `r${j} = load_${name}(base_${name}, ${alongK ? `${side} + ${j}u, at + (${k4}) * 4u, ${size}, k` : `at + (${k4}) * 4u + ${j}u, ${side}, k, ${size}`});`).join('\n      ')
  const columns = ['x', 'y', 'z', 'w'].map((c) => `vec4<f32>(r0.${c}, r1.${c}, r2.${c}, r3.${c})`)
  const store = SIDE.map((j) => `tile_${name}[((${k4}) * 4u + ${j}u) * ${tile / 4}u + ${s4}] = ${alongK ? columns[j]! : `r${j}`};`).join('\n      ')
  return { load, store }
}

/**
 * out = A B with 16x16 threads, each computing (tile/16)² outputs in blocks of 4x4 that lie 64 apart. The next step's
 * elements are fetched into registers while this step's are multiplied.
 */
export function matmulText(v: Variant): string {
  const depth = depthOf(v.tile)
  const blocks = Array.from({ length: v.tile / 64 }, (_, i) => i)
  const bindings = [{ name: 'a', type: storage(v.dtype, v.widthA) }, { name: 'b', type: storage(v.dtype, v.widthB) }, { name: 'out', type: storage(v.dtype, v.widthOut), write: true }]
  const [a, b] = [fetch('a', v.tile, !v.transA), fetch('b', v.tile, v.transB)]
  const each = (text: (r: number, i: number, c: number) => string) => blocks.flatMap((r) => SIDE.flatMap((i) => blocks.map((c) => text(r, i, c)))).join('\n')
  const write = (r: number, i: number, c: number) => {
    const at = `first_row + ${r * 64 + i}u + y * 4u, first_column + ${c * 64}u + x * 4u`
    return `  store(base_out, ${at}, m, n, sum_${r}_${i}_${c});`
  }
  const store =
    v.widthOut === 4
      ? `  if (row < rows && col < cols) { out[(base + row * cols + col) / 4u] = ${storage(v.dtype, 4)}(value); }`
      : `  if (row >= rows) { return; }\n${SIDE.map((j) => `  if (col + ${j}u < cols) { out[base + row * cols + col + ${j}u] = ${storage(v.dtype, 1)}(value[${j}]); }`).join('\n')}`
  return `${header(bindings, v.dtype === 'f16')}
var<workgroup> tile_a: array<${working(4)}, ${(depth * v.tile) / 4}>;
var<workgroup> tile_b: array<${working(4)}, ${(depth * v.tile) / 4}>;
${loader('a', v.widthA)}
${v.gathered?.loadB ?? loader('b', v.widthB)}
fn store(base: u32, row: u32, col: u32, rows: u32, cols: u32, value: vec4<f32>) {
${store}
}
${entry(`  let m = dim(0u);
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
  let first_row = (band * 8u + tile % (8u * tiles_n) % band_rows) * ${v.tile}u;
  let first_column = tile % (8u * tiles_n) / band_rows * ${v.tile}u;
  let base_a = ${v.gathered?.baseA ?? 'batch_number * m * k'};
  let base_b = ${v.gathered ? 'batch_number' : 'batch_number * k * n'};
  let base_out = batch_number * m * n;
  let x = lane % 16u;
  let y = lane / 16u;
${each((r, i, c) => `  var sum_${r}_${i}_${c} = vec4<f32>(0.0);`)}
  var r0: vec4<f32>;
  var r1: vec4<f32>;
  var r2: vec4<f32>;
  var r3: vec4<f32>;
  var at = 0u;
  loop {
    if (at < k) {
      if (lane < 128u) {
      ${a.load}
      } else {
      ${b.load}
      }
    }
    if (at > 0u) {
      for (var l = 0u; l < ${depth}u; l++) {
${blocks.map((r) => `        let a${r} = tile_a[l * ${v.tile / 4}u + ${r * 16}u + y];\n        let b${r} = tile_b[l * ${v.tile / 4}u + ${r * 16}u + x];`).join('\n')}
${each((r, i, c) => `        sum_${r}_${i}_${c} = fma(vec4<f32>(a${r}[${i}]), b${c}, sum_${r}_${i}_${c});`)}
      }
      workgroupBarrier();
    }
    if (at >= k) { break; }
    if (lane < 128u) {
      ${a.store}
    } else {
      ${b.store}
    }
    workgroupBarrier();
    at += ${depth}u;
  }
${each(write)}`)}`
}
