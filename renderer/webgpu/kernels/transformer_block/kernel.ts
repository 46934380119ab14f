import transformerBlock from '@core/ops/transformer_block/op'
import { composed } from '../../wgsl/composite'
import copyView from '../copy_view/kernel'
import elementwise from '../elementwise/table'
import matmul from '../matmul/kernel'
import rows from '../rows/table'
import attention from '../scaled_dot_product_attention/kernel'
import { dimOf, type Kernel } from '../types'

/** The kernels of the parts, by op id. */
const PARTS: Readonly<Record<string, Kernel>> = { ...elementwise, ...rows, matmul, scaled_dot_product_attention: attention, copy_view: copyView }

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, seq, dim, heads, mlpRatio] = [0, 1, 2, 3, 4].map((at) => dimOf(shape, at))
    return composed(transformerBlock, transformerBlock.params.parse({ batch, seq, dim, heads, mlpRatio }), ({ id }) => PARTS[id]!, shape)
  },
}
export default kernel
