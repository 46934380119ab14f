import { step } from '../../wgsl/header'
import { planMatrices, type MatrixTile } from '../../wgsl/matrix-plan'
import { matricesForTile, matrixProductText } from '../../wgsl/matrix-product'
import { dimOf, type KernelShape, type Program } from '../types'

/** A product of i8 by subgroup matrices, whose sums `put` scales and writes; undefined where the device has none for it. `paired` as in kernel.ts. */
export function byMatrices(shape: KernelShape, put: string, paired: boolean): Program | undefined {
  const [m, n, k] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const operand = { row: k, alongK: true }
  const offered = (tile: MatrixTile) => matricesForTile(tile, 'i8', operand, operand, shape)
  const plan = planMatrices('i8', 1, m, n, k, false, (tile) => offered(tile) !== undefined)
  if (!plan || !shape.subgroups) return undefined
  const { tile, tilesM, tilesN } = plan
  const wgsl = matrixProductText({
    matrices: offered(tile)!,
    tile,
    subgroups: shape.subgroups,
    a: operand,
    b: operand,
    partial: k % tile.depth > 0,
    split: false,
    bindings: [{ name: 'scale_a', type: 'f32' }, { name: 'scale_b', type: 'f32' }, { name: 'out', type: paired ? 'u32' : 'atomic<u32>', write: true }],
    f16: false,
    functions: put,
    put: 'put_scaled(row, column, m, n, value);',
    vectors: true,
  })
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, 'output'], [m, n, k, tilesM, tilesN, 1], tilesM * tilesN)] }
}
