import { expect, it, describe } from 'vitest'
import { differences, generatedInputs, givenInputs } from '../testing'
import { softmax, logSoftmax, softmaxBackward } from './table'

describe('softmax', () => {
  it('matches a result worked out by hand', () => {
    const out = softmax.reference({ rows: 2, cols: 2 }, givenInputs([0, Math.log(3), 5, 5]), 0, 4)
    // ln 3 is rounded to f32 on the way in.
    ;[0.25, 0.75, 0.5, 0.5].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 7))
  })

  it('rows are positive and add up to one', () => {
    const p = { rows: 9, cols: 301 }
    const out = softmax.reference(p, generatedInputs(softmax, p, 'f32', 2), 0, 9 * 301)
    for (let r = 0; r < p.rows; r++) {
      const row = out.subarray(r * p.cols, (r + 1) * p.cols)
      expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 13)
      expect(row.every((v) => v > 0)).toBe(true)
    }
  })

  it('stays finite for inputs whose exponential does not', () => {
    expect(Array.from(softmax.reference({ rows: 1, cols: 2 }, givenInputs([1000, 1000]), 0, 2))).toEqual([0.5, 0.5])
  })

  it('costs two transfers and five operations per element', () => {
    expect([softmax.bytes({ rows: 10, cols: 10 }, 'bf16'), softmax.flops({ rows: 10, cols: 10 }), softmax.shapeLabel({ rows: 4096, cols: 32768 })]).toEqual([400, 500, '4096x32768'])
  })
})

describe('log_softmax', () => {
  it('matches a result worked out by hand', () => {
    const out = logSoftmax.reference({ rows: 2, cols: 2 }, givenInputs([0, Math.log(3), 5, 5]), 0, 4)
    ;[-Math.log(4), Math.log(0.75), -Math.LN2, -Math.LN2].forEach((value, i) => expect(out[i]).toBeCloseTo(value, 7))
  })

  it('is the logarithm of softmax, and finite where its exponentials are not', () => {
    const p = { rows: 5, cols: 77 }
    const read = generatedInputs(logSoftmax, p, 'f32', 2)
    const soft = softmax.reference(p, read, 0, 385)
    logSoftmax.reference(p, read, 0, 385).forEach((value, i) => expect(value).toBeCloseTo(Math.log(soft[i]!), 12))
    expect(Array.from(logSoftmax.reference({ rows: 1, cols: 2 }, givenInputs([1000, -1000]), 0, 2))).toEqual([0, -2000])
  })

  it('costs two transfers and five operations per element', () => expect([logSoftmax.bytes({ rows: 10, cols: 10 }, 'f16'), logSoftmax.flops({ rows: 10, cols: 10 })]).toEqual([400, 500]))
})

describe('softmax_backward', () => {
  it('matches a result worked out by hand', () => {
    // sum of grad * out = 1 * 0.25 + 2 * 0.75 = 1.75
    expect(Array.from(softmaxBackward.reference({ rows: 1, cols: 2 }, givenInputs([1, 2], [0.25, 0.75]), 0, 2))).toEqual([0.25 * -0.75, 0.75 * 0.25])
  })

  it('is the slope of softmax at its output', () => {
    const p = { rows: 3, cols: 6 }
    const read = generatedInputs(softmax, p, 'f32', 6)
    const grad = Array.from({ length: 18 }, (_, i) => Math.sin(i))
    const slopes = differences(softmax, p, read, 0, 18, grad)
    softmaxBackward.reference(p, givenInputs(grad, Array.from(softmax.reference(p, read, 0, 18))), 0, 18).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 3))
  })
})
