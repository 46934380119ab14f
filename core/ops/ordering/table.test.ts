import { expect, it, describe } from 'vitest'
import { generatedInputs, givenInputs } from '../testing'
import { sort, topk, cumsum } from './table'

describe('sort', () => {
  const read = givenInputs([3, -0, 3, -7, 0])
  const p = { rows: 1, cols: 5, descending: false }

  it('sorts with equal values in their order, either way', () => {
    expect(Array.from(sort.reference(p, read, 0, 5, 1))).toEqual([3, 1, 4, 0, 2])
    expect(Array.from(sort.reference({ ...p, descending: true }, read, 0, 5, 1))).toEqual([0, 2, 1, 4, 3])
    expect(Array.from(sort.reference(p, read, 0, 5), (v) => v + 0)).toEqual([-7, 0, 0, 3, 3])
  })

  it('places NaN of either sign above infinity', () => {
    const values = givenInputs([NaN, 1, Infinity, -NaN, -2])
    expect(Array.from(sort.reference(p, values, 0, 5, 1))).toEqual([4, 1, 2, 0, 3])
    expect(Array.from(topk.reference({ rows: 1, cols: 5, k: 3 }, values, 0, 3, 1))).toEqual([0, 3, 2])
  })

  it('agrees with the language on long rows with many equal values', () => {
    const q = { rows: 1, cols: 5000, descending: false }
    const inputs = generatedInputs(sort, q, 'bf16', 3)
    const x = inputs(0, 0, 5000)
    const order = Array.from(x.keys()).sort((a, b) => x[a]! - x[b]! || a - b)
    expect(new Set(x).size).toBeLessThan(4000)
    expect(Array.from(sort.reference(q, inputs, 0, 5000, 1))).toEqual(order)
  })
})

describe('topk', () => {
  const p = { rows: 2, cols: 4, k: 2 }
  const read = givenInputs([5, 9, 9, 9, 1, 2, 3, 4])

  it('gives the largest first, equal ones by first index', () => {
    expect(Array.from(topk.reference(p, read, 0, 4))).toEqual([9, 9, 4, 3])
    expect(Array.from(topk.reference(p, read, 0, 4, 1))).toEqual([1, 2, 3, 2])
  })

  it('accepts any order of equal values, each once, and nothing else', () => {
    const near = (...got: number[]) => Array.from(topk.reference(p, read, 0, 4, 1, Int32Array.from(got)))
    expect(near(3, 1, 3, 2)).toEqual([3, 1, 3, 2])
    expect(near(3, 3, 3, 2)).not.toEqual([3, 3, 3, 2])
    expect(near(1, 0, 2, 3)).toEqual([1, 2, 3, 2])
    expect(near(1, 77, -1, 2)).toEqual([1, 2, 3, 2])
  })

  it('agrees with sort on long rows, of many equal values too', () => {
    for (const [dtype, k] of [['f32', 300], ['f32', 1], ['bf16', 5000], ['f32', 29_000]] as const) {
      const [cols, rows] = [30_000, 2]
      const inputs = generatedInputs(topk, { rows, cols, k }, dtype, 3)
      for (const output of [0, 1]) {
        const sorted = Array.from(sort.reference({ rows, cols, descending: true }, inputs, 0, rows * cols, output))
        expect(Array.from(topk.reference({ rows, cols, k }, inputs, 0, rows * k, output))).toEqual([...sorted.slice(0, k), ...sorted.slice(cols, cols + k)])
      }
    }
    const few = givenInputs(Array.from({ length: 20_000 }, (_, i) => (i % 7 === 0 ? NaN : i % 3)))
    expect(Array.from(topk.reference({ rows: 1, cols: 20_000, k: 4 }, few, 0, 4, 1))).toEqual([0, 7, 14, 21])
  })

  it('refuses more than a row has', () => expect(topk.params.safeParse({ rows: 1, cols: 3 }).error!.issues[0]!.message).toBe('k (8) must not exceed cols (3)'))
})

describe('cumsum', () => {
  it('sums within each row', () => expect(Array.from(cumsum.reference({ rows: 2, cols: 3 }, givenInputs([1, 2, 3, -1, 5, 0]), 0, 6))).toEqual([1, 3, 6, -1, 4, 4]))

  it('a part of a long row starts from the sum of all in front of it, read once', () => {
    const p = { rows: 1, cols: 2 ** 18 }
    const inner = generatedInputs(cumsum, p, 'f32', 3)
    const whole = cumsum.reference(p, inner, 0, p.cols)
    let elements = 0
    const read: typeof inner = (input, start, count) => {
      elements += count
      return inner(input, start, count)
    }
    const part = cumsum.granule(p)
    expect(part).toBeLessThan(p.cols)
    for (let start = p.cols - part; start >= 0; start -= part) expect(cumsum.reference(p, read, start, part)).toEqual(whole.subarray(start, start + part))
    expect(elements).toBe(2 * p.cols - part)
  })
})
