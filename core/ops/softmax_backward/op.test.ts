import { expect, it } from 'vitest'
import { differences } from '../differences'
import { generatedInputs, givenInputs } from '../readers'
import forward from '../softmax/op'
import op from './op'

it('matches a result worked out by hand', () => {
  // sum of grad * out = 1 * 0.25 + 2 * 0.75 = 1.75
  expect(Array.from(op.reference({ rows: 1, cols: 2 }, givenInputs([1, 2], [0.25, 0.75]), 0, 2))).toEqual([0.25 * -0.75, 0.75 * 0.25])
})

it('is the slope of softmax at its output', () => {
  const p = { rows: 3, cols: 6 }
  const read = generatedInputs(forward, p, 'f32', 6)
  const grad = Array.from({ length: 18 }, (_, i) => Math.sin(i))
  const slopes = differences(forward, p, read, 0, 18, grad)
  op.reference(p, givenInputs(grad, Array.from(forward.reference(p, read, 0, 18))), 0, 18).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 3))
})
