import { expect, it } from 'vitest'
import { differences } from '../differences'
import { generatedInputs, givenInputs } from '../readers'
import forward from '../layer_norm/op'
import op from './op'

const p = { tokens: 3, dim: 5 }

it('gives the slopes of layer_norm for its input, weight and bias', () => {
  const params = { ...p, eps: 1e-5 }
  const read = generatedInputs(forward, params, 'f32', 6)
  const grad = Array.from({ length: 15 }, (_, i) => Math.sin(i))
  const x = Array.from(read(0, 0, 15))
  const rows = [0, 1, 2].map((token) => x.slice(token * 5, token * 5 + 5))
  const means = rows.map((row) => row.reduce((a, b) => a + b) / 5)
  const rstds = rows.map((row, t) => 1 / Math.sqrt(row.reduce((a, b) => a + (b - means[t]!) ** 2, 0) / 5 + 1e-5))
  const given = givenInputs(grad, x, Array.from(read(1, 0, 5)), means, rstds)
  for (const [output, count] of [[0, 15], [1, 5], [2, 5]] as const) {
    const slopes = differences(forward, params, read, output, count, grad)
    op.reference(p, given, 0, count, output).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 2))
  }
})

it('sums over tokens by hand', () => {
  const read = givenInputs([1, 2, 3, 4], [1, 0, 0, 1], [1, 1], [0, 1], [2, 3])
  const q = { tokens: 2, dim: 2 }
  expect(Array.from(op.reference(q, read, 0, 2, 1))).toEqual([1 * 2 + 3 * -3, 0])
  expect(Array.from(op.reference(q, read, 0, 2, 2))).toEqual([4, 6])
})
