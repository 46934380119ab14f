import { elementwise } from '../elementwise'
import { exact } from '../tolerance'

/**
 * out[i] = x[i], bit for bit. PyTorch: x.clone(). dims: [n].
 * No arithmetic: its bandwidth at sizes beyond the caches is the device's measured bandwidth ceiling.
 */
export default elementwise({
  id: 'copy',
  family: 'memory',
  summary: 'Copy of a tensor, x.clone()',
  inputs: ['x'],
  flopsPerElement: 0,
  referenceCost: 1,
  reference: ([x], out) => out.set(x!),
  tolerance: () => exact,
})
