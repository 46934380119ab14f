import { expect, it } from 'vitest'
import { differences } from '../differences'
import { generatedInputs, givenInputs } from '../readers'
import forward from '../cross_entropy/op'
import op from './op'

it('matches a result worked out by hand', () => {
  // softmax 1/4 and 3/4, gradient of the loss 2, two tokens
  const logits = [0, Math.log(3), Math.log(3), 0]
  op.reference({ tokens: 2, classes: 2 }, givenInputs(logits, [0, 0], [2]), 0, 4).forEach((value, i) => expect(value).toBeCloseTo([-0.75, 0.75, -0.25, 0.25][i]!, 7))
})

it('is the slope of the loss', () => {
  const p = { tokens: 3, classes: 5 }
  const read = generatedInputs(op, p, 'f32', 6)
  const slopes = differences(forward, p, read, 0, 15, [4])
  op.reference(p, read, 0, 15).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 3))
})
