import { expect, it, describe } from 'vitest'
import { differences, generatedInputs, givenInputs } from '../testing'
import { layerNorm, layerNormBackward, rmsNorm, rmsNormBackward } from './table'

describe('layer_norm', () => {
  it('matches a result worked out by hand', () => {
    // mean 2, variance 1: (x - 2) / sqrt(1.00001) * weight + bias
    const out = layerNorm.reference({ tokens: 1, dim: 2, eps: 1e-5 }, givenInputs([1, 3], [2, 4], [10, 20]), 0, 2)
    const unit = 1 / Math.sqrt(1 + 1e-5)
    expect(Array.from(out)).toEqual([10 - 2 * unit, 20 + 4 * unit])
  })

  it('gives every token mean 0 and variance 1 before weight and bias', () => {
    const p = { tokens: 5, dim: 640, eps: 1e-5 }
    const x = generatedInputs(layerNorm, p, 'f32', 4)(0, 0, 5 * 640)
    const out = layerNorm.reference(p, givenInputs(Array.from(x), new Array<number>(640).fill(1), new Array<number>(640).fill(0)), 0, 5 * 640)
    for (let t = 0; t < p.tokens; t++) {
      const row = out.subarray(t * p.dim, (t + 1) * p.dim)
      expect(row.reduce((a, b) => a + b, 0) / p.dim).toBeCloseTo(0, 12)
      expect(row.reduce((a, b) => a + b * b, 0) / p.dim).toBeCloseTo(1, 3)
    }
  })

  it('reads weight and bias once and costs seven operations per element', () => {
    expect([layerNorm.bytes({ tokens: 10, dim: 4 }, 'f32'), layerNorm.flops({ tokens: 10, dim: 4 }), layerNorm.granule({ tokens: 10, dim: 4 })]).toEqual([352, 280, 4])
  })
})

describe('layer_norm_backward', () => {
  const p = { tokens: 3, dim: 5 }

  it('gives the slopes of layer_norm for its input, weight and bias', () => {
    const params = { ...p, eps: 1e-5 }
    const read = generatedInputs(layerNorm, params, 'f32', 6)
    const grad = Array.from({ length: 15 }, (_, i) => Math.sin(i))
    const x = Array.from(read(0, 0, 15))
    const rows = [0, 1, 2].map((token) => x.slice(token * 5, token * 5 + 5))
    const means = rows.map((row) => row.reduce((a, b) => a + b) / 5)
    const rstds = rows.map((row, t) => 1 / Math.sqrt(row.reduce((a, b) => a + (b - means[t]!) ** 2, 0) / 5 + 1e-5))
    const given = givenInputs(grad, x, Array.from(read(1, 0, 5)), means, rstds)
    for (const [output, count] of [[0, 15], [1, 5], [2, 5]] as const) {
      const slopes = differences(layerNorm, params, read, output, count, grad)
      layerNormBackward.reference(p, given, 0, count, output).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 2))
    }
  })

  it('sums over tokens by hand', () => {
    const read = givenInputs([1, 2, 3, 4], [1, 0, 0, 1], [1, 1], [0, 1], [2, 3])
    const q = { tokens: 2, dim: 2 }
    expect(Array.from(layerNormBackward.reference(q, read, 0, 2, 1))).toEqual([1 * 2 + 3 * -3, 0])
    expect(Array.from(layerNormBackward.reference(q, read, 0, 2, 2))).toEqual([4, 6])
  })
})

describe('rms_norm', () => {
  it('matches a result worked out by hand', () => {
    // mean of squares (9 + 16) / 2 = 12.5 for the first token, 0 for the second
    const out = rmsNorm.reference({ tokens: 2, dim: 2, eps: 0.5 }, givenInputs([3, 4, 0, 0], [2, -1]), 0, 4)
    expect(out[0]).toBeCloseTo(6 / Math.sqrt(13), 14)
    expect(out[1]).toBeCloseTo(-4 / Math.sqrt(13), 14)
    expect(Array.from(out.subarray(2), Math.abs)).toEqual([0, 0])
  })

  it('reads the weight once and costs four operations per element', () => {
    expect([rmsNorm.bytes({ tokens: 10, dim: 4 }, 'f32'), rmsNorm.flops({ tokens: 10, dim: 4 }), rmsNorm.granule({ tokens: 10, dim: 4 })]).toEqual([336, 160, 4])
  })
})

describe('rms_norm_backward', () => {
  it('gives the slopes of rms_norm for its input and weight', () => {
    const p = { tokens: 3, dim: 5 }
    const params = { ...p, eps: 1e-5 }
    const read = generatedInputs(rmsNorm, params, 'f32', 6)
    const grad = Array.from({ length: 15 }, (_, i) => Math.cos(i))
    const x = Array.from(read(0, 0, 15))
    const rstds = [0, 1, 2].map((token) => 1 / Math.sqrt(x.slice(token * 5, token * 5 + 5).reduce((a, b) => a + b * b, 0) / 5 + 1e-5))
    const given = givenInputs(grad, x, Array.from(read(1, 0, 5)), rstds)
    for (const [output, count] of [[0, 15], [1, 5]] as const) {
      const slopes = differences(rmsNorm, params, read, output, count, grad)
      rmsNormBackward.reference(p, given, 0, count, output).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 2))
    }
  })
})

describe('gradients of weights', () => {
  it('are the same of a few columns, which are read row by row, as of all', () => {
    const p = { tokens: 300, dim: 100 }
    for (const [op, output] of [[layerNormBackward, 1], [layerNormBackward, 2], [rmsNormBackward, 1]] as const) {
      const read = generatedInputs(op, p, 'f32', 8)
      const whole = op.reference(p, read, 0, 100, output)
      expect(Array.from([0, 20, 40, 60, 80].flatMap((start) => Array.from(op.reference(p, read, start, 20, output))))).toEqual(Array.from(whole))
    }
  })
})
