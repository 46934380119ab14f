import { describe, expect, it } from 'vitest'
import { parseNumberFilter, parseTextFilter } from './filter'

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
