import { defineOp } from '../define'
import { vector, withNames } from '../forms'
import { formatSize } from '../../units'

/** Independent chains per element: enough to hide the latency of a fused multiply-add on every processor known here. */
export const CHAINS = 8

/** Multiplier and addend of a chain, in f32. */
export const STEP = { a: Math.fround(0.999), b: Math.fround(0.001) } as const

/**
 * Peak arithmetic rate outside tensor cores. For every element i, eight chains c = 0..7 start at y = x[i] + c and run
 * `iterations` times y = fma(y, a, b) in f32, a = 0.999, b = 0.001 (both rounded to f32); out[i] = sum of the chains,
 * added in the order of c. dims: [n, iterations]. 2·8·n·iterations operations; the start and the sum are not counted.
 *
 * Closed form: y_N = y* + a^N (y_0 - y*) with y* = b / (1 - a). The map contracts, so a rounding error of half a unit in
 * the last place ends within 1 / (1 - a) = 1000 times itself: 6e-5, hence the tolerance. a^N still shows the iteration count.
 */
export default defineOp<{ n: number; iterations: number }>({
  id: 'peak_fma',
  family: 'ceiling',
  summary: 'Chains of fused multiply-adds: the peak arithmetic rate',
  torch: '',
  size: withNames(vector, [], [{ name: 'iterations', title: 'Iterations' }]),
  dtypes: ['f32'],
  shapeLabel: ({ n, iterations }) => `${formatSize(n)} x ${iterations}`,
  tensors: ({ n }) => [
    { name: 'x', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [n], role: 'out' },
  ],
  dims: ({ n, iterations }) => [n, iterations],
  flops: ({ n, iterations }) => 2 * CHAINS * n * iterations,
  referenceCost: () => 4,
  reference: ({ iterations }, read, start, count) => {
    const x = read(0, start, count)
    const end = STEP.b / (1 - STEP.a)
    const decay = STEP.a ** iterations
    const chainOffsets = (CHAINS * (CHAINS - 1)) / 2
    const out = new Float64Array(count)
    for (let i = 0; i < count; i++) out[i] = CHAINS * end + decay * (CHAINS * (x[i]! - end) + chainOffsets)
    return out
  },
  tolerance: () => ({ relL2: 1e-4, element: { ulp: 0, abs: 1e-2 } }),
})
