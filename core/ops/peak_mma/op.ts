import { defineOp } from '../define'
import { vector, withNames } from '../forms'
import { formatSize } from '../../units'

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
export default defineOp<{ n: number; iterations: number }>({
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
