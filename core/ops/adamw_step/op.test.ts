import { expect, it } from 'vitest'
import { givenInputs } from '../testing'
import { outputsOf } from '../define'
import op from './op'

it('the first step from rest moves every parameter by the learning rate', () => {
  // m / (1 - beta1) = grad and sqrt(v / (1 - beta2)) = |grad|, whatever the gradient is.
  const p = op.params.parse({ n: 2, lr: 0.5, weightDecay: 0, eps: 0, step: 1 })
  const read = givenInputs([1, 1], [4, -0.25], [0, 0], [0, 0])
  const [param, m, v] = [0, 1, 2].map((output) => op.reference(p, read, 0, 2, output))
  expect(param![0]).toBeCloseTo(0.5, 12)
  expect(param![1]).toBeCloseTo(1.5, 12)
  expect([m![0], v![0]].map((x) => Number(x!.toFixed(12)))).toEqual([0.4, 0.016])
})

it('reads and writes its state, and reads the gradient', () => {
  const p = op.params.parse({ n: 10 })
  expect(outputsOf(op, p, 'f32').map(({ name }) => name)).toEqual(['param', 'm', 'v'])
  expect(op.bytes(p, 'f32')).toBe(280)
})
