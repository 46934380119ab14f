import { erfc } from '../../math/erf'
import { elementwise } from '../elementwise'
import { transcendental } from '../tolerance'

/**
 * out[i] = x/2 * (1 + erf(x / sqrt 2)): x times the normal distribution function (Hendrycks & Gimpel 2016, exact form).
 * PyTorch: torch.nn.functional.gelu(x). dims: [n]. Five operations per element: scale, erf, add, halve, multiply.
 */
export default elementwise({
  id: 'gelu',
  family: 'activation',
  summary: 'Gaussian error linear unit with erf, F.gelu(x)',
  inputs: ['x'],
  flopsPerElement: 5,
  referenceCost: 12,
  reference: ([x], out) => {
    // erfc(-z) = 1 + erf(z) without the cancellation that 1 + erf has for large negative x.
    for (let i = 0; i < out.length; i++) out[i] = 0.5 * x![i]! * erfc(-x![i]! * Math.SQRT1_2)
  },
  tolerance: transcendental,
})
