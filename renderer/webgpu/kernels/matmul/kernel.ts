import { step, widthFor } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'
import { matmulText } from './tile'

/** Large tiles read less per output, but only pay when there are enough of them to fill a device. */
const ENOUGH_LARGE_TILES = 128

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, m, n, k] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
    const [transA, transB] = [dimOf(shape, 4) === 1, dimOf(shape, 5) === 1]
    const tiles = (tile: number) => [Math.ceil(m / tile), Math.ceil(n / tile)] as const
    const large = tiles(128)
    const tile = batch * large[0] * large[1] >= ENOUGH_LARGE_TILES ? 128 : 64
    const [tilesM, tilesN] = tiles(tile)
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
