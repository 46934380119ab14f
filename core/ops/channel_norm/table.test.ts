import { expect, it, describe } from 'vitest'
import { outputsOf, tensorsOf } from '../define'
import { generatedInputs, givenInputs } from '../testing'
import { layerNorm } from '../row_norm/table'
import { batchNorm, groupNorm } from './table'

describe('batch_norm', () => {
  const size = { batch: 2, channels: 2, height: 1, width: 2 }
  const x = [1, 3, 10, 10, 5, 7, 10, 14]

  it('trains with the statistics of each channel over batch, height and width', () => {
    // channel 0: 1, 3, 5, 7 (mean 4, variance 5); channel 1: 10, 10, 10, 14 (mean 11, variance 3)
    const p = batchNorm.params.parse({ ...size, training: true, eps: 1 })
    const read = givenInputs(x, [2, 1], [0, 100])
    const want = [-6 / Math.sqrt(6), -2 / Math.sqrt(6), 99.5, 99.5, 2 / Math.sqrt(6), 6 / Math.sqrt(6), 99.5, 101.5]
    batchNorm.reference(p, read, 0, 8).forEach((value, i) => expect(value).toBeCloseTo(want[i]!, 13))
    expect(Array.from(batchNorm.reference(p, read, 0, 2, 1))).toEqual([4, 11])
    expect(Array.from(batchNorm.reference(p, read, 0, 2, 2))).toEqual([1 / Math.sqrt(6), 0.5])
  })

  it('trains on images of a few elements, whose channels are read together, and on longer ones', () => {
    for (const plane of [3, 200]) {
      const [batch, channels] = [40, 2]
      const p = batchNorm.params.parse({ batch, channels, height: 1, width: plane, training: true })
      const read = generatedInputs(batchNorm, p, 'f32', 7)
      const all = Array.from({ length: channels }, (_, channel) => Array.from({ length: batch }, (_, image) => Array.from(read(0, (image * channels + channel) * plane, plane))).flat())
      const means = all.map((values) => values.reduce((a, b) => a + b, 0) / values.length)
      const variances = all.map((values, channel) => values.reduce((sum, value) => sum + (value - means[channel]!) ** 2, 0) / values.length)
      expect(Array.from(batchNorm.reference(p, read, 0, 2, 1))).toEqual(means)
      batchNorm.reference(p, read, 0, 2, 2).forEach((rstd, channel) => expect(rstd).toBeCloseTo(1 / Math.sqrt(variances[channel]! + 1e-5), 12))
    }
  })

  it('infers with the statistics given', () => {
    const p = batchNorm.params.parse({ ...size, eps: 1 })
    expect(Array.from(batchNorm.reference(p, givenInputs(x, [2, 1], [0, 100], [1, 10], [3, 0]), 0, 8))).toEqual([0, 2, 100, 100, 4, 6, 100, 104])
  })

  it('reads a channel once for all ranges of a case', () => {
    const p = batchNorm.params.parse({ batch: 8, channels: 3, height: 4, width: 4, training: true })
    const inner = generatedInputs(batchNorm, p, 'f32', 5)
    let elements = 0
    const read: typeof inner = (input, start, count) => {
      if (input === 0) elements += count
      return inner(input, start, count)
    }
    for (let plane = 0; plane < 24; plane++) batchNorm.reference(p, read, plane * 16, 16)
    expect(elements).toBe(3 * 8 * 3 * 16)
  })

  it('keeps what belongs to a channel in f32, and trains only where there is a variance', () => {
    const p = batchNorm.params.parse({ ...size, training: true })
    expect(tensorsOf(batchNorm, p, 'bf16').map(({ name, storage }) => `${name} ${storage}`)).toEqual(['x bf16', 'weight f32', 'bias f32', 'out bf16', 'mean f32', 'rstd f32'])
    expect(outputsOf(batchNorm, batchNorm.params.parse(size), 'f16').map(({ name }) => name)).toEqual(['out'])
    expect(batchNorm.params.safeParse({ batch: 1, channels: 4, height: 1, training: true }).error!.issues[0]!.message).toContain('more than one value per channel')
    expect([batchNorm.bytes(p, 'f16'), batchNorm.flops(p), batchNorm.flops(batchNorm.params.parse(size))]).toEqual([2 * 8 * 2 + 4 * 2 * 4, 56, 32])
  })
})

describe('group_norm', () => {
  it('matches a result worked out by hand', () => {
    // group of channels 0 and 1: 1, 1 and 1, 5 (mean 2, variance 3)
    const p = groupNorm.params.parse({ batch: 1, channels: 4, height: 1, width: 2, groups: 2, eps: 1 })
    const out = groupNorm.reference(p, givenInputs([1, 1, 1, 5, 0, 0, 0, 0], [1, 2, 1, 1], [0, 0, 8, 9]), 0, 8)
    const want = [-0.5, -0.5, -1, 3, 8, 8, 9, 9]
    out.forEach((value, i) => expect(value).toBeCloseTo(want[i]!, 14))
  })

  it('with one group and weights of one is layer normalisation of the whole image', () => {
    const p = groupNorm.params.parse({ batch: 3, channels: 4, height: 5, width: 2, groups: 1 })
    const x = Array.from(generatedInputs(groupNorm, p, 'f32', 3)(0, 0, 120))
    const ones = (n: number) => new Array<number>(n).fill(1)
    const whole = layerNorm.reference({ tokens: 3, dim: 40, eps: 1e-5 }, givenInputs(x, ones(40), ones(40)), 0, 120)
    groupNorm.reference(p, givenInputs(x, ones(4), ones(4)), 0, 120).forEach((value, i) => expect(value).toBeCloseTo(whole[i]!, 13))
  })

  it('refuses groups that do not divide the channels', () => {
    expect(groupNorm.params.safeParse({ batch: 1, channels: 6, height: 4, groups: 4 }).error!.issues[0]!.message).toBe('groups (4) must divide channels (6)')
  })
})
