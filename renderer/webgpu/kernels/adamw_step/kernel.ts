import { mapped, type MappedTensor } from '../../wgsl/mapped'
import { dimOf, type Kernel } from '../types'

/**
 * Four elements a thread; tensors are padded to whole vectors (tensors.ts). What is the same for every element is worked out in
 * float64 before it is rounded, as PyTorch does: decay, beta1, 1 - beta1, beta2, 1 - beta2, rate, 1 / (1 - beta2^step), eps.
 */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [lr, beta1, beta2, eps, weightDecay, count] = shape.scalars as [number, number, number, number, number, number]
    // 1 - beta^step without the cancellation where beta^step is near 1.
    const correction = (beta: number) => -Math.expm1(count * Math.log(beta))
    const tensors: MappedTensor[] = [
      { name: 'parameters', at: 'output', type: 'own4', write: true },
      { name: 'grad', at: { input: 1 }, type: 'own4' },
      { name: 'm', at: { output: 1 }, type: 'own4', write: true },
      { name: 'v', at: { output: 2 }, type: 'own4', write: true },
    ]
    return mapped({
      tensors,
      body: `  let g = vec4<f32>(grad[i]);
  let first = scalar(1u) * vec4<f32>(m[i]) + scalar(2u) * g;
  let second = scalar(3u) * vec4<f32>(v[i]) + scalar(4u) * g * g;
  let moved = scalar(0u) * vec4<f32>(parameters[i]) - scalar(5u) * first / (sqrt(second * scalar(6u)) + scalar(7u));
  m[i] = own4(first);
  v[i] = own4(second);
  parameters[i] = own4(moved);`,
      scalars: [1 - lr * weightDecay, beta1, 1 - beta1, beta2, 1 - beta2, lr / correction(beta1), 1 / correction(beta2), eps],
    }, shape.dtype, Math.ceil(dimOf(shape, 0) / 4))
  },
}
export default kernel
