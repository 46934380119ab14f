import { describe, expect, it } from 'vitest'
import { setNumberLocale } from '@core/units'
import { alignedText, hasOneUnit, numberText, typicalValue, unitFor } from './column-format'

describe('column units', () => {
  it('chooses the unit from the typical value, with rates per second', () => {
    expect(unitFor('time', 36_800).name).toBe('µs')
    expect(unitFor('bandwidth', 3.65e12).name).toBe('TB/s')
    expect(typicalValue(5, (i) => [9, NaN, 1, 5, 7][i]!)).toBe(7)
    expect(typicalValue(2, () => NaN)).toBeUndefined()
  })

  it('keeps three to four digits and gives up digits below one', () => {
    const us = unitFor('time', 5e3)
    expect([36_800, 1_234_000, 851.234, 12.3].map((ns) => numberText(ns, 'time', us))).toEqual(['36.80', '1234', '0.851', '0.012'])
    expect([numberText(14_171_400, 'time', us), numberText(12_345, 'count', unitFor('count', 1)), numberText(9170, 'count', unitFor('count', 1))]).toEqual(['14,171', '12,345', '9170'])
    expect([2.38e10, 3.65e12].map((rate) => numberText(rate, 'bandwidth', unitFor('bandwidth', 3.65e12)))).toEqual(['0.024', '3.65'])
    expect(numberText(0.000999, 'percent', unitFor('percent', 1))).toBe('0.10')
  })

  it('writes shares and speedups as tooltips do, and no interval as zero', () => {
    const percent = unitFor('percent', 1)
    expect([0.135, 0.00001, 0].map((share) => numberText(share, 'half-width', percent))).toEqual(['13.5', '<0.01', '<0.01'])
    expect([0.999, 1, 0.0458].map((ratio) => numberText(ratio, 'speedup', unitFor('speedup', 1)))).toEqual(['0.999', '1.000', '0.0458'])
  })

  it('pads so that every number of a column has its point at the same place', () => {
    const us = unitFor('time', 5e3)
    const places = [36_800, 1_234_000, 851.234, 1_000, 123_456].map((ns) => {
      const { text, pad } = alignedText(ns, 'time', us)
      const whole = text + pad
      return whole.length - whole.indexOf('.')
    })
    expect(new Set(places)).toEqual(new Set([4]))
  })
})

it('aligns at the decimal point of the locale', () => {
  setNumberLocale('de')
  try {
    const unit = unitFor('time', 36_800)
    expect([alignedText(36_800, 'time', unit), alignedText(4_000_000, 'time', unit)]).toEqual([{ text: '36,80', pad: '0' }, { text: '4000', pad: ',000' }])
  } finally {
    setNumberLocale('en')
  }
})

it('says of which quantities the unit depends on the figures', () => {
  expect((['time', 'bandwidth', 'speedup', 'percent'] as const).map(hasOneUnit)).toEqual([false, false, true, true])
  expect([unitFor('percent', undefined), unitFor('percent', 0.5)]).toEqual([{ name: '%', size: 0.01 }, { name: '%', size: 0.01 }])
})
