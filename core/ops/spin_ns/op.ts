import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { extent } from '../params'
import { SPIN_ELEMENTS } from '../spin/op'
import { exact } from '../tolerance'
import { defineOp } from '../types'

/**
 * Waits until the device's own clock (globaltimer on CUDA, the steady clock on the CPU) has moved by `ns`, then
 * out[i] = x[i] for eight elements: a kernel whose duration is known. dims: [8, ns].
 */
export default defineOp({
  id: 'spin_ns',
  family: 'probe',
  summary: 'Waits for a given number of nanoseconds on the device',
  sizeKind: 'vector',
  sizeParams: ['ns'],
  params: z.object({ ns: extent() }),
  dtypes: ['f32'],
  shapeLabel: ({ ns }) => `${ns} ns`,
  inputs: () => [{ name: 'x', shape: [SPIN_ELEMENTS], fill: { kind: 'normal', scale: 1 } }],
  outputShape: () => [SPIN_ELEMENTS],
  dims: ({ ns }) => [SPIN_ELEMENTS, ns],
  bytes: (_p, dtype) => 2 * SPIN_ELEMENTS * DTYPE_BYTES[dtype],
  flops: () => 0,
  granule: () => 1,
  referenceCost: () => 1,
  reference: (_p, read, start, count) => Float64Array.from(read(0, start, count)),
  tolerance: () => exact,
})
