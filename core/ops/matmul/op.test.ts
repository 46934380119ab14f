import { describe, expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import type { ReadInput } from '../types'
import { tensorsOf } from '../define'
import op from './op'
import type { MatmulParams } from './reference'

/** The definition, written as plainly as it can be. */
function naive({ m, n, k, batch, transA, transB }: MatmulParams, read: ReadInput): number[] {
  const a = read(0, 0, batch * m * k)
  const b = read(1, 0, batch * k * n)
  const out: number[] = []
  for (let q = 0; q < batch; q++)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0
        for (let l = 0; l < k; l++) sum += a[q * m * k + (transA ? l * m + i : i * k + l)]! * b[q * k * n + (transB ? j * k + l : l * n + j)]!
        out.push(sum)
      }
  return out
}

it('multiplies [[1, 2], [3, 4]] by [[5, 6], [7, 8]]', () => {
  const p = op.params.parse({ m: 2, n: 2, k: 2 })
  expect(Array.from(op.reference(p, givenInputs([1, 2, 3, 4], [5, 6, 7, 8]), 0, 4))).toEqual([19, 22, 43, 50])
})

describe('against a triple loop', () => {
  const layouts = [false, true].flatMap((transA) => [false, true].map((transB) => ({ transA, transB })))
  it.each(layouts)('transA $transA, transB $transB, every range', ({ transA, transB }) => {
    const p = { m: 5, n: 7, k: 6, batch: 3, transA, transB }
    const read = generatedInputs(op, p, 'f32', 8)
    const whole = naive(p, read)
    for (const [start, count] of [[0, 105], [0, 1], [3, 9], [6, 8], [7, 28], [33, 40], [34, 1], [104, 1], [30, 75]] as const) {
      const part = op.reference(p, read, start, count)
      expect(part.length).toBe(count)
      part.forEach((value, i) => expect(value).toBeCloseTo(whole[start + i]!, 12))
    }
  })
})

it('reads B once for many rows, not once per row', () => {
  const p = { m: 64, n: 32, k: 16, batch: 1, transA: false, transB: false }
  const inner = generatedInputs(op, p, 'f32', 8)
  let elements = 0
  op.reference(p, (input, start, count) => {
    if (input === 1) elements += count
    return inner(input, start, count)
  }, 0, 64 * 32)
  expect(elements).toBe(16 * 32)
})

it('states dims in the order kernels read them, and its cost', () => {
  const p = op.params.parse({ m: 2, n: 3, k: 4, batch: 5, transB: true })
  expect(op.dims(p)).toEqual([5, 2, 3, 4, 0, 1])
  expect(tensorsOf(op, p, 'f32').map(({ shape }) => shape)).toEqual([[5, 2, 4], [5, 3, 4], [5, 2, 3]])
  expect([op.flops(p), op.bytes(p, 'tf32')]).toEqual([240, 5 * (8 + 12 + 6) * 4])
})

it('names shapes so that different cases read differently', () => {
  const label = (p: Record<string, number | boolean>) => op.shapeLabel(op.params.parse({ m: 2, n: 3, k: 4, ...p }))
  expect([label({}), label({ batch: 5 }), label({ transA: true }), label({ transB: true })]).toEqual(['2x3x4', '5x2x3x4', '2x3x4 TN', '2x3x4 NT'])
})
