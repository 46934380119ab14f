import { elementwise } from '../elementwise'
import { arithmetic } from '../tolerance'

/** out[i] = a[i] + b[i]. PyTorch: torch.add(a, b). dims: [n]. One addition per element. */
export default elementwise({
  id: 'add',
  family: 'binary',
  summary: 'Element-wise sum, torch.add(a, b)',
  inputs: ['a', 'b'],
  flopsPerElement: 1,
  referenceCost: 1,
  reference: ([a, b], out) => {
    for (let i = 0; i < out.length; i++) out[i] = a![i]! + b![i]!
  },
  tolerance: arithmetic,
})
