import { defineOp, divisorUpTo } from '../define'
import { matrix } from '../forms'
import { oncePerRead } from '../memo'
import { accumulated } from '../tolerance'
import type { ReadInput } from '../types'

/** Longest part of a row that the reference works out at once. */
const PART = 2 ** 16

/** Sum of the elements of a row in front of part `part`, kept so that neighbouring parts do not start over. */
function sumBefore(cols: number, size: number, read: ReadInput, row: number, part: number): number {
  const sums = oncePerRead(read, `cumsum ${cols} ${row}`, () => [0])
  for (let at = sums.length - 1; at < part; at++) {
    const x = read(0, row * cols + at * size, size)
    let sum = sums[at]!
    for (let i = 0; i < size; i++) sum += x[i]!
    sums.push(sum)
  }
  return sums[part]!
}

/**
 * Sums of the elements up to each one along the last axis of x [rows, cols]: out[r, i] = x[r, 0] + ... + x[r, i], accumulated in f32.
 * PyTorch: torch.cumsum(x, -1). dims: [rows, cols]. One add per element.
 */
export default defineOp<{ rows: number; cols: number }>({
  id: 'cumsum',
  family: 'order',
  summary: 'Cumulative sum along the last axis',
  torch: 'torch.cumsum(x, -1)',
  size: matrix,
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ rows, cols }) => [
    { name: 'x', shape: [rows, cols], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [rows, cols], role: 'out' },
  ],
  dims: ({ rows, cols }) => [rows, cols],
  flops: ({ rows, cols }) => rows * cols,
  granule: ({ cols }) => divisorUpTo(cols, PART),
  // A part of a long row needs all in front of it.
  referenceCost: ({ cols }) => 3 + (3 * (cols / divisorUpTo(cols, PART) - 1)) / 2,
  reference: ({ cols }, read, start, count) => {
    const size = divisorUpTo(cols, PART)
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += size) {
      const row = Math.floor((start + at) / cols)
      let sum = sumBefore(cols, size, read, row, ((start + at) % cols) / size)
      const x = read(0, start + at, size)
      for (let i = 0; i < size; i++) out[at + i] = sum += x[i]!
    }
    return out
  },
  tolerance: ({ cols }, dtype) => accumulated(dtype, cols),
})
