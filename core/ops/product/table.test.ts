import { describe, expect, it } from 'vitest'
import { tensorsOf } from '../define'
import { generatedInputs, givenInputs } from '../testing'
import type { ReadInput } from '../types'
import { matmul, scaledMatmul, type MatmulParams } from './table'

describe('matmul', () => {
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
    const p = matmul.params.parse({ m: 2, n: 2, k: 2 })
    expect(Array.from(matmul.reference(p, givenInputs([1, 2, 3, 4], [5, 6, 7, 8]), 0, 4))).toEqual([19, 22, 43, 50])
  })

  describe('against a triple loop', () => {
    const layouts = [false, true].flatMap((transA) => [false, true].map((transB) => ({ transA, transB })))
    it.each(layouts)('transA $transA, transB $transB, every range', ({ transA, transB }) => {
      const p = { m: 5, n: 7, k: 6, batch: 3, transA, transB }
      const read = generatedInputs(matmul, p, 'f32', 8)
      const whole = naive(p, read)
      for (const [start, count] of [[0, 105], [0, 1], [3, 9], [6, 8], [7, 28], [33, 40], [34, 1], [104, 1], [30, 75]] as const) {
        const part = matmul.reference(p, read, start, count)
        expect(part.length).toBe(count)
        part.forEach((value, i) => expect(value).toBeCloseTo(whole[start + i]!, 12))
      }
    })
  })

  it('reads B once for many rows, not once per row', () => {
    const p = { m: 64, n: 32, k: 16, batch: 1, transA: false, transB: false }
    const inner = generatedInputs(matmul, p, 'f32', 8)
    let elements = 0
    matmul.reference(p, (input, start, count) => {
      if (input === 1) elements += count
      return inner(input, start, count)
    }, 0, 64 * 32)
    expect(elements).toBe(16 * 32)
  })

  it('states dims in the order kernels read them, and its cost', () => {
    const p = matmul.params.parse({ m: 2, n: 3, k: 4, batch: 5, transB: true })
    expect(matmul.dims(p)).toEqual([5, 2, 3, 4, 0, 1])
    expect(tensorsOf(matmul, p, 'f32').map(({ shape }) => shape)).toEqual([[5, 2, 4], [5, 3, 4], [5, 2, 3]])
    expect([matmul.flops(p), matmul.bytes(p, 'tf32')]).toEqual([240, 5 * (8 + 12 + 6) * 4])
  })

  it('names shapes so that different cases read differently', () => {
    const label = (p: Record<string, number | boolean>) => matmul.shapeLabel(matmul.params.parse({ m: 2, n: 3, k: 4, ...p }))
    expect([label({}), label({ batch: 5 }), label({ transA: true }), label({ transB: true })]).toEqual(['2x3x4', '5x2x3x4', '2x3x4 TN', '2x3x4 NT'])
  })
})

describe('scaled_matmul', () => {
  it('matches a result worked out by hand', () => {
    // [1 2; 3 4] by the transpose of [5 6; 7 8], rows times 2 and 3, columns times 10 and 100
    const read = givenInputs([1, 2, 3, 4], [5, 6, 7, 8], [2, 3], [10, 100])
    expect(Array.from(scaledMatmul.reference({ m: 2, n: 2, k: 2 }, read, 0, 4))).toEqual([17 * 20, 23 * 200, 39 * 30, 53 * 300])
    expect(Array.from(scaledMatmul.reference({ m: 2, n: 2, k: 2 }, read, 1, 2))).toEqual([23 * 200, 39 * 30])
  })

  it('takes int8 over its symmetric range and gives bf16', () => {
    const p = { m: 64, n: 64, k: 64 }
    const a = generatedInputs(scaledMatmul, p, 'i8', 3)(0, 0, 4096)
    expect([Math.min(...a), Math.max(...a)]).toEqual([-127, 127])
    expect(tensorsOf(scaledMatmul, p, 'i8').map(({ storage }) => storage)).toEqual(['i8', 'i8', 'f32', 'f32', 'bf16'])
    expect(scaledMatmul.bytes(p, 'f8e4m3')).toBe(2 * 4096 + 2 * 64 * 4 + 2 * 4096)
  })

  it('refuses sums that leave i32', () => {
    expect(scaledMatmul.params.safeParse({ m: 1, n: 1, k: 133145 }).error!.issues[0]!.message).toContain('k (133145) must not exceed 133144')
    expect(scaledMatmul.params.safeParse({ m: 1, n: 1, k: 133144 }).success).toBe(true)
  })
})
