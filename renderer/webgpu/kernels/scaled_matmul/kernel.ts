import { entry, header, step } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'
import { byMatrices } from './by-matrices'

/** Rows and columns of the output that a workgroup computes, 4 x 4 for each of 256 threads. */
const TILE = 64
/** Words of four i8 along k that lie in workgroup memory at a time: two tiles of 4 KiB. */
const DEPTH = 16

const SIDE = [0, 1, 2, 3]

/** The four i8 of a row from `4 * word` on, as one word; zeros beyond the row. `aligned`: rows are whole words. */
const wordOf = (name: string, aligned: boolean) =>
  aligned
    ? `fn word_of_${name}(row: u32, rows: u32, word: u32, k: u32) -> u32 {
  if (row >= rows || word * 4u >= k) { return 0u; }
  return ${name}[row * (k / 4u) + word];
}`
    : `fn word_of_${name}(row: u32, rows: u32, word: u32, k: u32) -> u32 {
  if (row >= rows || word * 4u >= k) { return 0u; }
  let at = row * k + word * 4u;
  let shift = 8u * (at % 4u);
  var bits = ${name}[at / 4u] >> shift;
  if (shift > 0u) { bits |= ${name}[min(at / 4u + 1u, arrayLength(&${name}) - 1u)] << (32u - shift); }
  let left = k - word * 4u;
  return select(bits, bits & ((1u << (8u * left)) - 1u), left < 4u);
}`

/** Rounds to bf16, ties to even, and writes. `paired`: the columns of a word belong to one row; else two threads share words, each changing its half. */
const store = (paired: boolean) => {
  const rounded = 'fn half_of(value: f32) -> u32 { let bits = bitcast<u32>(value); return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u; }\n'
  return paired
    ? `${rounded}fn put(row: u32, column: u32, m: u32, n: u32, v: vec4<f32>) {
  if (row >= m || column >= n) { return; }
  let at = (row * n + column) / 2u;
  out[at] = half_of(v.x) | (half_of(v.y) << 16u);
  if (column + 2u < n) { out[at + 1u] = half_of(v.z) | (half_of(v.w) << 16u); }
}`
    : `${rounded}fn put(row: u32, column: u32, m: u32, n: u32, v: vec4<f32>) {
  if (row >= m) { return; }
  for (var j = 0u; j < 4u && column + j < n; j++) {
    let at = row * n + column + j;
    let shift = 16u * (at % 2u);
    atomicAnd(&out[at / 2u], 0xffff0000u >> shift);
    atomicOr(&out[at / 2u], half_of(v[j]) << shift);
  }
}`
}

/** Scales sums of a row, writes them. */
const scaled = (paired: boolean) => `${store(paired)}
fn scale_of(column: u32, n: u32) -> f32 { return scale_b[min(column, n - 1u)]; }
fn put_scaled(row: u32, column: u32, m: u32, n: u32, sums: vec4<i32>) {
  put(row, column, m, n, scale_a[min(row, m - 1u)] * vec4<f32>(${SIDE.map((j) => `scale_of(column + ${j}u, n)`).join(', ')}) * vec4<f32>(sums));
}
`

/** out = scaleA scaleB (a bᵀ), the sums exact in i32 by packed products. */
function text(aligned: boolean, paired: boolean): string {
  const bindings = [{ name: 'a', type: 'u32' }, { name: 'b', type: 'u32' }, { name: 'scale_a', type: 'f32' }, { name: 'scale_b', type: 'f32' }, { name: 'out', type: paired ? 'u32' : 'atomic<u32>', write: true }]
  return `requires packed_4x8_integer_dot_product;
${header(bindings, false)}
var<workgroup> tile_a: array<u32, ${TILE * DEPTH}>;
var<workgroup> tile_b: array<u32, ${TILE * DEPTH}>;
${wordOf('a', aligned)}
${wordOf('b', aligned)}
${scaled(paired)}${entry(`  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let first_row = group / dim(3u) * ${TILE}u;
  let first_column = group % dim(3u) * ${TILE}u;
  if (first_row >= m) { return; }
  let x = lane % 16u;
  let y = lane / 16u;
${SIDE.map((i) => `  var sum_${i} = vec4<i32>(0);`).join('\n')}
  for (var first = 0u; first * 4u < k; first += ${DEPTH}u) {
    for (var at = lane; at < ${TILE * DEPTH}u; at += 256u) {
      let word = first + at % ${DEPTH}u;
      let line = at / ${DEPTH}u;
      tile_a[at % ${DEPTH}u * ${TILE}u + line] = word_of_a(first_row + line, m, word, k);
      tile_b[at % ${DEPTH}u * ${TILE}u + line] = word_of_b(first_column + line, n, word, k);
    }
    workgroupBarrier();
    for (var l = 0u; l < ${DEPTH}u; l++) {
${SIDE.map((j) => `      let b${j} = tile_b[l * ${TILE}u + x * 4u + ${j}u];`).join('\n')}
${SIDE.map((i) => `      let a${i} = tile_a[l * ${TILE}u + y * 4u + ${i}u];\n      sum_${i} += vec4<i32>(${SIDE.map((j) => `dot4I8Packed(a${i}, b${j})`).join(', ')});`).join('\n')}
    }
    workgroupBarrier();
  }
  let column = first_column + x * 4u;
${SIDE.map((i) => `  put_scaled(first_row + y * 4u + ${i}u, column, m, n, sum_${i});`).join('\n')}`)}`
}

/** int8 alone: fp8 has no words in WGSL. */
const kernel: Kernel = {
  dtypes: ['i8'],
  build: (shape) => {
    const [m, n, k] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const products = byMatrices(shape, scaled(n % 2 === 0), n % 2 === 0)
    if (products) return products
    const across = Math.ceil(n / TILE)
    return { scratchBytes: [], steps: [step(text(k % 4 === 0, n % 2 === 0), [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, 'output'], [m, n, k, across], Math.ceil(m / TILE) * across)] }
  },
}
export default kernel
