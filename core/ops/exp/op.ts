import { elementwise } from '../elementwise'
import { transcendental } from '../tolerance'

/** out[i] = e^x[i]. PyTorch: torch.exp(x). dims: [n]. One transcendental per element; |x| stays below 3.5. */
export default elementwise({
  id: 'exp',
  family: 'unary',
  summary: 'Element-wise exponential, torch.exp(x)',
  inputs: ['x'],
  flopsPerElement: 1,
  referenceCost: 4,
  reference: ([x], out) => {
    for (let i = 0; i < out.length; i++) out[i] = Math.exp(x![i]!)
  },
  tolerance: transcendental,
})
