import { defineOp } from '../define'
import { vector, withNames } from '../forms'
import { STEP } from '../peak_fma/op'

/** Elements of a spin: few enough that one core or one warp computes all of them at the latency of a single chain. */
export const SPIN_ELEMENTS = 8

/**
 * A chain of dependent fused multiply-adds, whose time is its length times the latency of one: the same work on every
 * backend, and the yardstick their clocks are held against. For each of eight elements, `iterations` times
 * y = fma(y, a, b) in f32 from y = x[i], a and b as in peak_fma; out[i] = y. dims: [8, iterations].
 * Closed form and tolerance as for peak_fma.
 */
export default defineOp<{ iterations: number }>({
  id: 'spin',
  family: 'probe',
  summary: 'One chain of dependent multiply-adds: a known amount of time',
  torch: '',
  size: withNames(vector, ['iterations']),
  dtypes: ['f32'],
  shapeLabel: ({ iterations }) => String(iterations),
  tensors: () => [
    { name: 'x', shape: [SPIN_ELEMENTS], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [SPIN_ELEMENTS], role: 'out' },
  ],
  dims: ({ iterations }) => [SPIN_ELEMENTS, iterations],
  flops: ({ iterations }) => 2 * SPIN_ELEMENTS * iterations,
  referenceCost: () => 4,
  reference: ({ iterations }, read, start, count) => {
    const x = read(0, start, count)
    const end = STEP.b / (1 - STEP.a)
    return Float64Array.from(x, (value) => end + STEP.a ** iterations * (value - end))
  },
  tolerance: () => ({ relL2: 1e-4, element: { ulp: 0, abs: 1e-2 } }),
})
