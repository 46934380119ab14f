import { expect, it } from 'vitest'
import { outputsOf, tensorsOf } from '../define'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

const size = { batch: 2, channels: 2, height: 1, width: 2 }
const x = [1, 3, 10, 10, 5, 7, 10, 14]

it('trains with the statistics of each channel over batch, height and width', () => {
  // channel 0: 1, 3, 5, 7 (mean 4, variance 5); channel 1: 10, 10, 10, 14 (mean 11, variance 3)
  const p = op.params.parse({ ...size, training: true, eps: 1 })
  const read = givenInputs(x, [2, 1], [0, 100])
  const want = [-6 / Math.sqrt(6), -2 / Math.sqrt(6), 99.5, 99.5, 2 / Math.sqrt(6), 6 / Math.sqrt(6), 99.5, 101.5]
  op.reference(p, read, 0, 8).forEach((value, i) => expect(value).toBeCloseTo(want[i]!, 13))
  expect(Array.from(op.reference(p, read, 0, 2, 1))).toEqual([4, 11])
  expect(Array.from(op.reference(p, read, 0, 2, 2))).toEqual([1 / Math.sqrt(6), 0.5])
})

it('infers with the statistics given', () => {
  const p = op.params.parse({ ...size, eps: 1 })
  expect(Array.from(op.reference(p, givenInputs(x, [2, 1], [0, 100], [1, 10], [3, 0]), 0, 8))).toEqual([0, 2, 100, 100, 4, 6, 100, 104])
})

it('reads a channel once for all ranges of a case', () => {
  const p = op.params.parse({ batch: 8, channels: 3, height: 4, width: 4, training: true })
  const inner = generatedInputs(op, p, 'f32', 5)
  let elements = 0
  const read: typeof inner = (input, start, count) => {
    if (input === 0) elements += count
    return inner(input, start, count)
  }
  for (let plane = 0; plane < 24; plane++) op.reference(p, read, plane * 16, 16)
  expect(elements).toBe(3 * 8 * 3 * 16)
})

it('keeps what belongs to a channel in f32, and trains only where there is a variance', () => {
  const p = op.params.parse({ ...size, training: true })
  expect(tensorsOf(op, p, 'bf16').map(({ name, storage }) => `${name} ${storage}`)).toEqual(['x bf16', 'weight f32', 'bias f32', 'out bf16', 'mean f32', 'rstd f32'])
  expect(outputsOf(op, op.params.parse(size), 'f16').map(({ name }) => name)).toEqual(['out'])
  expect(op.params.safeParse({ batch: 1, channels: 4, height: 1, training: true }).error!.issues[0]!.message).toContain('more than one value per channel')
  expect([op.bytes(p, 'f16'), op.flops(p), op.flops(op.params.parse(size))]).toEqual([2 * 8 * 2 + 4 * 2 * 4, 56, 32])
})
