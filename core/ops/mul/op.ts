import { elementwise } from '../elementwise'
import { arithmetic } from '../tolerance'

/** out[i] = a[i] * b[i]. PyTorch: torch.mul(a, b). dims: [n]. One multiplication per element. */
export default elementwise({
  id: 'mul',
  family: 'binary',
  summary: 'Element-wise product, torch.mul(a, b)',
  inputs: ['a', 'b'],
  flopsPerElement: 1,
  referenceCost: 1,
  reference: ([a, b], out) => {
    for (let i = 0; i < out.length; i++) out[i] = a![i]! * b![i]!
  },
  tolerance: arithmetic,
})
