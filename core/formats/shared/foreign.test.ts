import { expect, it } from 'vitest'
import { nsToSeconds, secondsToNs, shiftDecimal } from './foreign'

it('keeps the digits that a file states', () => {
  expect(secondsToNs(1.001e-7)).toBe(100.1)
  expect(1.001e-7 * 1e9).not.toBe(100.1)
  expect([shiftDecimal(0, 9), shiftDecimal(12.5, -3), shiftDecimal(1e21, 3), shiftDecimal(-1.5e-7, 9)]).toEqual([0, 0.0125, 1e24, -150])
})

it('goes to seconds and back for every time with up to 15 digits', () => {
  for (let i = 1; i < 2000; i++) {
    const ns = Number((i * 1.2345678901e-3 * 10 ** (i % 13)).toPrecision(15))
    expect(secondsToNs(nsToSeconds(ns))).toBe(ns)
  }
})
