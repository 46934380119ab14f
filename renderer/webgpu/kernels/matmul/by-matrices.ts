import { step, storage, widthFor } from '../../wgsl/header'
import { planMatrices, type MatrixTile } from '../../wgsl/matrices/plan'
import { matricesForTile, matrixProductText } from '../../wgsl/matrices/product'
import { paddedWhereFaster, withCopies } from '../../wgsl/matrices/padded'
import { dimOf, type KernelShape, type Program } from '../types'
import { joinedParts } from './joined'

/** A product in f16 by subgroup matrices; undefined where the device has none for it. */
export function byMatrices(shape: KernelShape): Program | undefined {
  if (shape.dtype !== 'f16' || !shape.matrices || !shape.subgroups) return undefined
  const [batch, m, n, k] = [0, 1, 2, 3].map((i) => dimOf(shape, i)) as [number, number, number, number]
  const [transA, transB] = [dimOf(shape, 4) === 1, dimOf(shape, 5) === 1]
  const given = [{ row: transA ? m : k, alongK: !transA }, { row: transB ? k : n, alongK: transB }] as const
  const offered = (tile: MatrixTile) => matricesForTile(tile, 'f16', ...given, shape)
  const plan = planMatrices('f16', batch, m, n, k, (tile) => offered(tile) !== undefined)
  if (!plan) return undefined
  const { tile, tilesM, tilesN, parts, chunk } = plan
  const split = parts > 1
  const { operands: [a, b], copies } = paddedWhereFaster('f16', plan, given, [batch * (transA ? k : m), batch * (transB ? n : k)])
  const result = split ? 'f32' : 'f16'
  const width = widthFor(n)
  const wgsl = matrixProductText({
    matrices: offered(tile)!,
    tile,
    subgroups: shape.subgroups,
    a,
    b,
    partial: k % tile.depth > 0,
    split,
    bindings: [{ name: 'out', type: storage(result, width), write: true }],
    f16: true,
    functions: '',
    put: width === 4 ? `out[(base_out + row * n + column) / 4u] = ${storage(result, 4)}(value);` : `out[base_out + row * n + column] = ${result}(value);`,
    vectors: width === 4,
  })
  const dims = [m, n, k, tilesM, tilesN, batch * parts, ...(split ? [parts, chunk] : [])]
  const groups = batch * parts * tilesM * tilesN
  const product = step(wgsl, [{ input: 0 }, { input: 1 }, split ? { scratch: 0 } : 'output'], dims, groups)
  return withCopies('f16', split ? joinedParts(product, shape, batch, m * n, parts) : { scratchBytes: [], steps: [product] }, copies)
}
