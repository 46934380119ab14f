import { z } from 'zod'
import { DTYPE_BYTES } from '../../case'
import { STEP } from '../peak_fma/op'
import { extent } from '../params'
import { defineOp } from '../types'

/** Elements of a spin: few enough that one core or one warp computes all of them at the latency of a single chain. */
export const SPIN_ELEMENTS = 8

/**
 * A chain of dependent fused multiply-adds, whose time is its length times the latency of one: the same work on every
 * backend, and the yardstick their clocks are held against. For each of eight elements, `iterations` times
 * y = fma(y, a, b) in f32 from y = x[i], a and b as in peak_fma; out[i] = y. dims: [8, iterations].
 * Closed form and tolerance as for peak_fma.
 */
export default defineOp({
  id: 'spin',
  family: 'probe',
  summary: 'One chain of dependent multiply-adds: a known amount of time',
  sizeKind: 'vector',
  sizeParams: ['iterations'],
  params: z.object({ iterations: extent() }),
  dtypes: ['f32'],
  shapeLabel: ({ iterations }) => String(iterations),
  inputs: () => [{ name: 'x', shape: [SPIN_ELEMENTS], fill: { kind: 'normal', scale: 1 } }],
  outputShape: () => [SPIN_ELEMENTS],
  dims: ({ iterations }) => [SPIN_ELEMENTS, iterations],
  bytes: (_p, dtype) => 2 * SPIN_ELEMENTS * DTYPE_BYTES[dtype],
  flops: ({ iterations }) => 2 * SPIN_ELEMENTS * iterations,
  granule: () => 1,
  referenceCost: () => 4,
  reference: ({ iterations }, read, start, count) => {
    const x = read(0, start, count)
    const end = STEP.b / (1 - STEP.a)
    return Float64Array.from(x, (value) => end + STEP.a ** iterations * (value - end))
  },
  tolerance: () => ({ relL2: 1e-4 }),
})
