import { describe, expect, it } from 'vitest'
import { parseNumberFilter, parseTextFilter, sortByKeys } from './row-order'

const passes = <T,>(parsed: ReturnType<typeof parseTextFilter> | ReturnType<typeof parseNumberFilter>, value: T) => parsed.ok && (parsed.test as (value: T) => boolean)(value)

describe('text filters', () => {
  it('take alternatives, whole words and exclusions', () => {
    expect(['f32', 'f16', 'tf32'].map((v) => passes(parseTextFilter('=f32, f16'), v))).toEqual([true, true, false])
    expect(['f32', 'tf32', 'bf16'].map((v) => passes(parseTextFilter('f32, !tf'), v))).toEqual([true, false, false])
    expect(parseTextFilter(' , ')).toEqual({ ok: true, test: undefined })
  })
})

describe('number filters', () => {
  it.each([['> 10', [10, 11], [false, true]], ['<=2.5', [2.5, 2.6], [true, false]], ['10..20', [9, 10, 20, 21], [false, true, true, false]], ['5', [4, 5], [false, true]], ['= 3.65', [3.651, 3.7], [true, false]]])('%s', (text, values, expected) => {
    expect(values.map((value) => passes(parseNumberFilter(text), value))).toEqual(expected)
  })

  it('say what was expected when they cannot be read', () => {
    expect(parseNumberFilter('fast')).toMatchObject({ ok: false, message: expect.stringContaining('> 10') })
  })
})

const sorted = (keys: number[], descending = false) => {
  const order = Uint32Array.from(keys, (_, i) => i)
  sortByKeys(order, Float64Array.from(keys), descending)
  return [...order]
}

describe('sortByKeys', () => {
  it('orders negatives, zeros, fractions and infinities as numbers', () => {
    const keys = [3.5, -2, 1e300, 0, -1e-300, Infinity, 2 ** -1074, -Infinity, 12]
    const expected = keys.map((_, i) => i).sort((a, b) => keys[a]! - keys[b]!)
    expect(sorted(keys)).toEqual(expected)
    expect(sorted(keys, true)).toEqual([...expected].reverse())
  })

  it('puts absent values last in both directions', () => {
    expect(sorted([NaN, 2, NaN, 1])).toEqual([3, 1, 0, 2])
    expect(sorted([NaN, 2, NaN, 1], true)).toEqual([1, 3, 0, 2])
  })

  it('keeps the order of equal keys in both directions', () => {
    expect(sorted([1, 0, 1, 0])).toEqual([1, 3, 0, 2])
    expect(sorted([1, 0, 1, 0], true)).toEqual([0, 2, 1, 3])
  })

  it('agrees with a comparison sort on 100,000 keys', () => {
    let state = 1
    const keys = Array.from({ length: 100_000 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state - 2 ** 31) / 1000
    })
    const expected = keys.map((_, i) => i).sort((a, b) => keys[a]! - keys[b]!)
    expect(sorted(keys)).toEqual(expected)
  })

  it('sorts a subset of rows', () => {
    const order = Uint32Array.of(3, 1)
    sortByKeys(order, Float64Array.of(9, 5, 8, 2), false)
    expect([...order]).toEqual([3, 1])
  })
})
