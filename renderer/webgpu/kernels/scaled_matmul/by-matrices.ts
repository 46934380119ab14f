import { entry, header, step, THREADS } from '../../wgsl/header'
import { planMatrices, type MatrixTile } from '../../wgsl/matrices/plan'
import { paddedWhereFaster, withCopies } from '../../wgsl/matrices/padded'
import { matricesForTile, matrixProductText } from '../../wgsl/matrices/product'
import { dimOf, type KernelShape, type Program } from '../types'

/** Steps of k below which packed products are faster: a tile takes as many at once. */
const FEWEST_STEPS = 128

/** The bindings behind the operands, or behind the parts. */
const outputs = (paired: boolean) => [{ name: 'scale_a', type: 'f32' }, { name: 'scale_b', type: 'f32' }, { name: 'out', type: paired ? 'u32' : 'atomic<u32>', write: true }]

/** Adds up the parts of four sums, which lie behind each other, and writes them. dims: m, n, parts. */
const joinText = (put: string, paired: boolean) => `${header([{ name: 'sums', type: 'i32' }, ...outputs(paired)], false)}
${put}${entry(`  let m = dim(0u);
  let n = dim(1u);
  let quads = (n + 3u) / 4u;
  let i = group * ${THREADS}u + lane;
  let row = i / quads;
  let column = i % quads * 4u;
  if (row >= m) { return; }
  var total = vec4<i32>(0);
  for (var part = 0u; part < dim(2u); part++) {
    let at = (part * m + row) * n + column;
    total += vec4<i32>(${[0, 1, 2, 3].map((j) => `sums[at + ${j}u]`).join(', ')});
  }
  put_scaled(row, column, m, n, total);`)}`

/** A product of i8 by subgroup matrices, whose sums `put` scales and writes; undefined where the device has none for it. `paired` as in kernel.ts. */
export function byMatrices(shape: KernelShape, put: string, paired: boolean): Program | undefined {
  const [m, n, k] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  if (k < FEWEST_STEPS) return undefined
  const operand = { row: k, alongK: true }
  const offered = (tile: MatrixTile) => matricesForTile(tile, 'i8', operand, operand, shape)
  const plan = planMatrices('i8', 1, m, n, k, (tile) => offered(tile) !== undefined)
  if (!plan || !shape.subgroups) return undefined
  const { tile, tilesM, tilesN, parts, chunk } = plan
  const split = parts > 1
  const { operands: [a, b], copies } = paddedWhereFaster('i8', plan, [operand, operand], [m, n])
  const vectors = !split || n % 4 === 0
  const wgsl = matrixProductText({
    matrices: offered(tile)!,
    tile,
    subgroups: shape.subgroups,
    a,
    b,
    partial: k % tile.depth > 0,
    split,
    bindings: split ? [{ name: 'sums', type: vectors ? 'vec4<i32>' : 'i32', write: true }] : outputs(paired),
    f16: false,
    functions: split ? '' : put,
    put: split ? `sums[(base_out + row * n + column)${vectors ? ' / 4u' : ''}] = value;` : 'put_scaled(row, column, m, n, value);',
    vectors,
  })
  const dims = [m, n, k, tilesM, tilesN, parts, ...(split ? [parts, chunk] : [])]
  const product = (buffers: Program['steps'][number]['buffers']) => step(wgsl, [{ input: 0 }, { input: 1 }, ...buffers], dims, parts * tilesM * tilesN)
  if (!split) return withCopies('i8', { scratchBytes: [], steps: [product([{ input: 2 }, { input: 3 }, 'output'])] }, copies)
  const join = step(joinText(put, paired), [{ scratch: 0 }, { input: 2 }, { input: 3 }, 'output'], [m, n, parts], Math.ceil((m * Math.ceil(n / 4)) / THREADS))
  return withCopies('i8', { scratchBytes: [4 * parts * m * n], steps: [product([{ scratch: 0 }]), join] }, copies)
}
