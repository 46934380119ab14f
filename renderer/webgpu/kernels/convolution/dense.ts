import { mapped } from '../../wgsl/mapped'
import matmul from '../matmul/kernel'
import type { KernelShape, Program } from '../types'
import { withMadeWeights } from './made-weights'

/** Multiply-adds that are worth a step which makes the weights, and weights up to which that takes little. */
const LEAST_WORK = 2 ** 26
const MOST_WEIGHTS = 2 ** 22
/** Outputs of an image, and elements of it, that fill tiles. */
const LEAST_SIDE = 32

export interface DenseShape {
  batch: number
  channels: number
  filters: number
  groups: number
  /** Elements of a plane, taps of a channel, and outputs of a filter. */
  plane: number
  taps: number
  outputs: number
}

/** Whether each image is a row of a product: planes have fewer elements than filters have taps, many of which meet padding. */
export function isDense({ batch, channels, filters, groups, plane, taps, outputs }: DenseShape): boolean {
  const weights = channels * plane * filters * outputs
  return groups === 1 && plane < taps && batch * weights >= LEAST_WORK && weights <= Math.min(MOST_WEIGHTS, batch * Math.max(channels * plane, filters * outputs)) && Math.min(channels * plane, filters * outputs) >= LEAST_SIDE
}

/** A convolution of tiny planes as a product of images, which are rows, with a matrix that has each element's weight for each output. `extents` is WGSL of the op's dims as constants. */
export function denseConvolution(shape: KernelShape, { batch, channels, filters, plane, outputs }: DenseShape, extents: string): Program {
  const [k, n] = [channels * plane, filters * outputs]
  const product = matmul.build({ ...shape, dims: [1, batch, n, k, 0, 0], scalars: [] })
  const axis = (name: string, element: string, output: string) => `  let ${name} = ${element} + ${name}_padding - ${output} * stride;`
  return withMadeWeights(shape, product, k * n, (weights) => mapped({
    tensors: [{ name: 'weight', at: { input: 1 } }, { name: 'out', at: weights, write: true }],
    functions: extents,
    body: `  let row = i / ${n}u;
  let column = i % ${n}u;
  let p = row % plane;
  let o = column % outputs;
${axis('d', 'p / (h_input * w_input)', 'o / (h_output * w_output)')}
${axis('h', 'p / w_input % h_input', 'o / w_output % h_output')}
${axis('w', 'p % w_input', 'o % w_output')}
  // What lies before the first tap is below zero and wraps.
  let meets = ${['d', 'h', 'w'].map((name) => `(${name} / dilation < ${name}_kernel) & (${name} % dilation == 0u)`).join(' & ')};
  let tap = (d / dilation * h_kernel + h / dilation) * w_kernel + w / dilation;
  out[i] = select(own(0.0), weight[select(0u, (column / outputs * per_group + row / plane) * taps + tap, meets)], meets);`,
  }, shape.dtype, k * n))
}
