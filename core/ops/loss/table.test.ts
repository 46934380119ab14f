import { expect, it, describe } from 'vitest'
import { tensorsOf } from '../define'
import { differences, generatedInputs, givenInputs } from '../testing'
import { crossEntropy, crossEntropyBackward } from './table'

describe('cross_entropy', () => {
  it('matches a result worked out by hand', () => {
    // losses log 4 (even logits) and log(1 + 3) - log 3
    const out = crossEntropy.reference({ tokens: 2, classes: 4 }, givenInputs([7, 7, 7, 7, 0, Math.log(3), -1e4, -1e4], [2, 1]), 0, 1)
    expect(out[0]).toBeCloseTo((Math.log(4) + Math.log(4 / 3)) / 2, 7)
  })

  it('takes class indices that are in range, and reads every logit', () => {
    const p = { tokens: 500, classes: 10 }
    const target = generatedInputs(crossEntropy, p, 'bf16', 3)(1, 0, 500)
    expect(new Set(target)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
    expect(tensorsOf(crossEntropy, p, 'bf16').map(({ storage }) => storage)).toEqual(['bf16', 'i32', 'bf16'])
    expect(crossEntropy.bytes(p, 'bf16')).toBe(500 * 10 * 2 + 500 * 4 + 2)
  })
})

describe('cross_entropy_backward', () => {
  it('matches a result worked out by hand', () => {
    // softmax 1/4 and 3/4, gradient of the loss 2, two tokens
    const logits = [0, Math.log(3), Math.log(3), 0]
    crossEntropyBackward.reference({ tokens: 2, classes: 2 }, givenInputs(logits, [0, 0], [2]), 0, 4).forEach((value, i) => expect(value).toBeCloseTo([-0.75, 0.75, -0.25, 0.25][i]!, 7))
  })

  it('is the slope of the loss', () => {
    const p = { tokens: 3, classes: 5 }
    const read = generatedInputs(crossEntropyBackward, p, 'f32', 6)
    const slopes = differences(crossEntropy, p, read, 0, 15, [4])
    crossEntropyBackward.reference(p, read, 0, 15).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 3))
  })
})
