import { STORAGE_BYTES } from '../../case'
import { formatSize } from '../../units'
import { defineOp, exact } from '../define'
import { vector, withNames } from '../forms'

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
export const peakFma = defineOp<{ n: number; iterations: number }>({
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

/** One step multiplies [16, 16] by [16, 8]; a warp keeps eight of them independent. */
export const TILE = { m: 16, n: 8, k: 16 } as const
export const STEPS = 8

/**
 * Peak rate of matrix units (tensor cores). Warp w runs `iterations` times eight independent steps D += A·B of 16x8x16,
 * with every element of A = x[w], every element of B = 1 and f32 accumulators that start at 0. So each accumulator element ends
 * at 16 · iterations · x[w], and out[w] = that / (16 · iterations) = x[w], averaged over the warp's steps: an iteration
 * left out shows as a value that is too small. dims: [n, iterations] with n the number of warps.
 * 2·16·8·16·8·n·iterations operations for every dtype; tf32, whose instruction is 16x8x8, takes two per step, and an
 * instruction that is wider (Hopper's warp-group product) counts as the steps it covers.
 */
export const peakMma = defineOp<{ n: number; iterations: number }>({
  id: 'peak_mma',
  family: 'ceiling',
  summary: 'Chains of matrix multiply-accumulates: the peak rate of matrix units',
  torch: '',
  size: withNames(vector, [], [{ name: 'iterations', title: 'Iterations' }]),
  dtypes: ['f16', 'bf16', 'tf32'],
  shapeLabel: ({ n, iterations }) => `${formatSize(n)} x ${iterations}`,
  tensors: ({ n }) => [
    { name: 'x', shape: [n], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [n], role: 'out' },
  ],
  dims: ({ n, iterations }) => [n, iterations],
  flops: ({ n, iterations }) => 2 * TILE.m * TILE.n * TILE.k * STEPS * n * iterations,
  unit: () => 'matrix',
  referenceCost: () => 1,
  reference: (_p, read, start, count) => Float64Array.from(read(0, start, count)),
  tolerance: (_p, dtype) => ({ relL2: dtype === 'bf16' ? 1e-2 : 2e-3, element: { ulp: 1, abs: 1e-2 } }),
})

/** Elements that stream_read adds up together, and sums that it makes of them. */
export const STREAM_BLOCK = { elements: 1024, sums: 16 } as const

/** Passes over the same memory within one call, so that launching takes no share of the time: what a cache carries. dims: [n, iterations]. */
const stream = {
  family: 'ceiling' as const,
  torch: '',
  size: withNames(vector, [], [{ name: 'iterations', title: 'Iterations' }]),
  dtypes: ['f32' as const],
  shapeLabel: ({ n, iterations }: StreamParams) => `${formatSize(n)} x ${iterations}`,
  dims: ({ n, iterations }: StreamParams) => [n, iterations],
  flops: () => 0,
}
type StreamParams = { n: number; iterations: number }
/** Bytes of f32 elements that all passes move. */
const moved = ({ n, iterations }: StreamParams) => n * STORAGE_BYTES.f32 * iterations
const passedOver = (p: StreamParams) => ({ name: 'x', shape: [p.n], role: 'in' as const, fill: { kind: 'normal' as const, scale: 1 }, leastBytes: moved(p) })

/** Reads: out[b][j] = iterations + the sum of x[1024 b + i] over i = j, j + 16, ... within block b of 1024 elements. Shows that the last pass came. */
export const streamRead = defineOp<StreamParams>({
  ...stream,
  id: 'stream_read',
  summary: 'Reads the same memory many times: the read bandwidth of a cache',
  tensors: (p) => [passedOver(p), { name: 'out', shape: [Math.ceil(p.n / STREAM_BLOCK.elements), STREAM_BLOCK.sums], role: 'out', leastBytes: 0 }],
  referenceCost: () => STREAM_BLOCK.elements / STREAM_BLOCK.sums,
  reference: ({ n, iterations }, read, start, count) => {
    const { elements, sums } = STREAM_BLOCK
    return Float64Array.from({ length: count }, (_, at) => {
      const block = Math.floor((start + at) / sums)
      const values = read(0, block * elements, Math.min(elements, n - block * elements))
      let total = iterations
      for (let i = (start + at) % sums; i < values.length; i += sums) total += values[i]!
      return total
    })
  },
  tolerance: () => ({ relL2: 1e-5, element: { ulp: 4, abs: 1e-4 } }),
})

/** Writes: every element of out becomes `iterations`, the number of the last pass. */
export const streamWrite = defineOp<StreamParams>({
  ...stream,
  id: 'stream_write',
  summary: 'Writes the same memory many times: the write bandwidth of a cache',
  tensors: (p) => [{ name: 'out', shape: [p.n], role: 'out', leastBytes: moved(p) }],
  referenceCost: () => 1,
  reference: ({ iterations }, _read, _start, count) => new Float64Array(count).fill(iterations),
  tolerance: () => exact,
})

/** Copies: out = x, so many times. */
export const streamCopy = defineOp<StreamParams>({
  ...stream,
  id: 'stream_copy',
  summary: 'Copies the same memory many times: the copy bandwidth of a cache',
  tensors: (p) => [passedOver(p), { name: 'out', shape: [p.n], role: 'out', leastBytes: moved(p) }],
  referenceCost: () => 1,
  reference: (_p, read, start, count) => Float64Array.from(read(0, start, count)),
  tolerance: () => exact,
})

/** Elements of a spin: few enough that one core or one warp computes all of them at the latency of a single chain. */
export const SPIN_ELEMENTS = 8

/**
 * A chain of dependent fused multiply-adds, whose time is its length times the latency of one: the same work on every
 * backend, and the yardstick their clocks are held against. For each of eight elements, `iterations` times
 * y = fma(y, a, b) in f32 from y = x[i], a and b as in peak_fma; out[i] = y. dims: [8, iterations].
 * Closed form and tolerance as for peak_fma.
 */
export const spin = defineOp<{ iterations: number }>({
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

/**
 * Waits until the device's own clock (globaltimer on CUDA, the steady clock on the CPU) has moved by `ns`, then
 * out[i] = x[i] for eight elements: a kernel whose duration is known. dims: [8, ns].
 */
export const spinNs = defineOp<{ ns: number }>({
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

export default [peakFma, peakMma, streamRead, streamWrite, streamCopy, spin, spinNs]
