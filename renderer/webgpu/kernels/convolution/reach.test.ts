import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { reach, reached } from './reach'

const axis = (input: number, kernel: number, padding: number) => [input, kernel, padding, input + 2 * padding - kernel + 1]
const dimsOf = (batch: number, channels: number, filters: number, ...axes: readonly number[][]) => [batch, channels, filters, 1, 1, 1, 1, 1, 0, 1, ...axes.flat()]

describe('taps of a convolution', () => {
  it('that are left out meet nothing but padding', () => {
    const random = createRandom(21)
    const upTo = (most: number) => 1 + Math.floor(most * random())
    for (let i = 0; i < 3000; i++) {
      const [input, kernel, padding, stride, dilation] = [upTo(9), upTo(9), upTo(9) - 1, upTo(3), upTo(4)]
      const output = Math.floor((input + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1
      if (output < 1) continue
      const { first, count } = reach(input, kernel, padding, output, stride, dilation)
      const name = JSON.stringify({ input, kernel, padding, output, stride, dilation })
      expect([first >= 0, count >= 1, first + count <= kernel, padding - first * dilation >= 0], name).toEqual([true, true, true, true])
      for (let tap = 0; tap < kernel; tap++) {
        if (tap >= first && tap < first + count) continue
        for (let o = 0; o < output; o++) {
          const at = o * stride + tap * dilation - padding
          expect(at < 0 || at >= input, name).toBe(true)
        }
      }
    }
  })
  it('are left out where that saves more than a step that copies the weights of the others', () => {
    const shape = (batch: number, ...axes: readonly number[][]) => ({ dtype: 'f32' as const, dims: dimsOf(batch, 113, 65, ...axes), scalars: [] })
    const found = reached(shape(119, axis(3, 7, 3), axis(1, 7, 3)))!
    expect([found.firsts, found.shape.dims.slice(10)]).toEqual([[0, 1, 3], [3, 5, 2, 3, 1, 1, 0, 1]])
    expect([reached(shape(1, axis(3, 7, 3), axis(1, 7, 3))), reached(shape(119, axis(14, 3, 1), axis(14, 3, 1)))]).toEqual([undefined, undefined])
    const { steps, scratchBytes } = KERNELS.get('conv2d')!.build(shape(119, axis(3, 7, 3), axis(1, 7, 3)))
    expect([steps[0]!.buffers, steps[0]!.dims]).toEqual([[{ input: 1 }, { scratch: scratchBytes.length - 1 }], [65 * 113 * 5, 1, 5, 1, 1, 7, 7, 10]])
    // Few tiles share what is left of k, as those of products do: here 16 of 64 filters and 64 outputs, 288 steps of k.
    expect(KERNELS.get('conv3d')!.build({ dtype: 'f32', dims: [16, 32, 64, 1, 1, 1, axis(1, 3, 1), axis(8, 3, 1), axis(8, 3, 1)].flat(), scalars: [] }).steps[1]!.groups).toBe(16 * 3)
    expect(steps.slice(1).flatMap(({ buffers }) => buffers)).not.toContainEqual({ input: 1 })
  })
})
