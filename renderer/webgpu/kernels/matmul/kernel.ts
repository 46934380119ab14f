import { step, widthFor } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'
import { matmulText, tilesFor } from './tile'

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
