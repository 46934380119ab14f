import { describe, expect, it } from 'vitest'
import { erf, erfc } from './erf'

/** 20-digit values from Abramowitz & Stegun table 7.1 and NIST DLMF, as any arbitrary-precision calculator gives them. */
const KNOWN: readonly [x: number, erf: number, erfc: number][] = [
  [0, 0, 1],
  [0.1, 0.1124629160182849, 0.8875370839817151],
  [0.5, 0.5204998778130465, 0.4795001221869535],
  [1, 0.8427007929497149, 0.15729920705028513],
  [2, 0.9953222650189527, 0.004677734981047266],
  [2.5, 0.999593047982555, 0.00040695201744495894],
  [3, 0.9999779095030014, 2.2090496998585441e-5],
  [4, 0.9999999845827421, 1.541725790028002e-8],
  [5, 0.9999999999984626, 1.5374597944280349e-12],
  [10, 1, 2.0884875837625446e-45],
]

describe('erf', () => {
  it.each(KNOWN)('at %d', (x, e, c) => {
    expect(Math.abs(erf(x) - e)).toBeLessThan(1e-15)
    expect(erf(-x)).toBe(-erf(x) + 0)
    expect(Math.abs(erfc(x) / c - 1)).toBeLessThan(x < 2.5 ? 1e-12 : 1e-13)
    expect(Math.abs(erfc(-x) - (1 + e))).toBeLessThan(1e-15)
  })

  it('has no step where the series hands over to the fraction', () => {
    const below = erfc(2.5 - 1e-9)
    const above = erfc(2.5 + 1e-9)
    // Slope is -2/sqrt(pi) exp(-x^2).
    expect((below - above) / 2e-9).toBeCloseTo((2 / Math.sqrt(Math.PI)) * Math.exp(-6.25), 6)
  })

  it('ends at the limits and keeps NaN', () => {
    expect([erf(Infinity), erf(-Infinity), erfc(Infinity), erfc(-Infinity)]).toEqual([1, -1, 0, 2])
    expect([erf(NaN), erfc(NaN)]).toEqual([NaN, NaN])
  })
})
