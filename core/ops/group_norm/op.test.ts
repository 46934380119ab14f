import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import layerNorm from '../layer_norm/op'
import op from './op'

it('matches a result worked out by hand', () => {
  // group of channels 0 and 1: 1, 1 and 1, 5 (mean 2, variance 3)
  const p = op.params.parse({ batch: 1, channels: 4, height: 1, width: 2, groups: 2, eps: 1 })
  const out = op.reference(p, givenInputs([1, 1, 1, 5, 0, 0, 0, 0], [1, 2, 1, 1], [0, 0, 8, 9]), 0, 8)
  const want = [-0.5, -0.5, -1, 3, 8, 8, 9, 9]
  out.forEach((value, i) => expect(value).toBeCloseTo(want[i]!, 14))
})

it('with one group and weights of one is layer normalisation of the whole image', () => {
  const p = op.params.parse({ batch: 3, channels: 4, height: 5, width: 2, groups: 1 })
  const x = Array.from(generatedInputs(op, p, 'f32', 3)(0, 0, 120))
  const ones = (n: number) => new Array<number>(n).fill(1)
  const whole = layerNorm.reference({ tokens: 3, dim: 40, eps: 1e-5 }, givenInputs(x, ones(40), ones(40)), 0, 120)
  op.reference(p, givenInputs(x, ones(4), ones(4)), 0, 120).forEach((value, i) => expect(value).toBeCloseTo(whole[i]!, 13))
})

it('refuses groups that do not divide the channels', () => {
  expect(op.params.safeParse({ batch: 1, channels: 6, height: 4, groups: 4 }).error!.issues[0]!.message).toBe('groups (4) must divide channels (6)')
})
