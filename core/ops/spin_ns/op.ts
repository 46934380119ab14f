import { defineOp } from '../define'
import { vector, withNames } from '../forms'
import { SPIN_ELEMENTS } from '../spin/op'
import { exact } from '../tolerance'

/**
 * Waits until the device's own clock (globaltimer on CUDA, the steady clock on the CPU) has moved by `ns`, then
 * out[i] = x[i] for eight elements: a kernel whose duration is known. dims: [8, ns].
 */
export default defineOp<{ ns: number }>({
  id: 'spin_ns',
  family: 'probe',
  summary: 'Waits for a given number of nanoseconds on the device',
  torch: '',
  size: withNames(vector, ['ns']),
  dtypes: ['f32'],
  shapeLabel: ({ ns }) => `${ns} ns`,
  tensors: () => [
    { name: 'x', shape: [SPIN_ELEMENTS], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [SPIN_ELEMENTS], role: 'out' },
  ],
  dims: ({ ns }) => [SPIN_ELEMENTS, ns],
  flops: () => 0,
  referenceCost: () => 1,
  reference: (_p, read, start, count) => Float64Array.from(read(0, start, count)),
  tolerance: () => exact,
})
