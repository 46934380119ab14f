import { inputsOf } from '@core/ops/define'
import transformerBlock from '@core/ops/transformer_block/op'
import { composed } from '../../wgsl/composite'
import elementwise from '../elementwise/table'
import matmul from '../matmul/kernel'
import rows from '../rows/table'
import attention from '../scaled_dot_product_attention/kernel'
import { dimOf, type Kernel } from '../types'

/** The kernels of the parts, by op id. */
const PARTS: Readonly<Record<string, Kernel>> = { ...elementwise, ...rows, matmul, scaled_dot_product_attention: attention }

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, seq, dim, heads, mlpRatio] = [0, 1, 2, 3, 4].map((at) => dimOf(shape, at))
    const params = transformerBlock.params.parse({ batch, seq, dim, heads, mlpRatio })
    const tensors = inputsOf(transformerBlock, params, shape.dtype).map(({ name }) => name)
    return composed(tensors, transformerBlock.parts!(params), ({ id }) => PARTS[id]!, shape)
  },
}
export default kernel
