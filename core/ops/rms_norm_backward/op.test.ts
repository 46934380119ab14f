import { expect, it } from 'vitest'
import { differences } from '../differences'
import { generatedInputs, givenInputs } from '../readers'
import forward from '../rms_norm/op'
import op from './op'

it('gives the slopes of rms_norm for its input and weight', () => {
  const p = { tokens: 3, dim: 5 }
  const params = { ...p, eps: 1e-5 }
  const read = generatedInputs(forward, params, 'f32', 6)
  const grad = Array.from({ length: 15 }, (_, i) => Math.cos(i))
  const x = Array.from(read(0, 0, 15))
  const rstds = [0, 1, 2].map((token) => 1 / Math.sqrt(x.slice(token * 5, token * 5 + 5).reduce((a, b) => a + b * b, 0) / 5 + 1e-5))
  const given = givenInputs(grad, x, Array.from(read(1, 0, 5)), rstds)
  for (const [output, count] of [[0, 15], [1, 5]] as const) {
    const slopes = differences(forward, params, read, output, count, grad)
    op.reference(p, given, 0, count, output).forEach((value, i) => expect(value).toBeCloseTo(slopes[i]!, 2))
  }
})
