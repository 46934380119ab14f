import { describe, expect, it } from 'vitest'
import { intervalText, speedupPad, speedupText } from './verdict'

describe('speedups of a comparison', () => {
  it('keep three digits where a side is many times as fast', () => {
    expect([1.0612, 0.1861, 0.02814, 0.001234].map((speedup) => speedupText({ speedup }))).toEqual(['1.061x', '0.186x', '0.0281x', '0.00123x'])
  })

  it('stand with their points in line', () => {
    const ends = [1.0612, 0.02814, 0.001234].map((speedup) => `${speedupText({ speedup })}${speedupPad(speedup, 5)}`)
    expect(ends.map((text) => text.length - text.indexOf('.'))).toEqual([7, 7, 7])
  })

  it('show both ends of an interval with the same places', () => {
    expect(intervalText({ speedupLow: 0.098, speedupHigh: 0.1026 })).toBe('0.0980 to 0.1026')
  })
})
