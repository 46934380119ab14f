import { describe, expect, it } from 'vitest'
import { isQuantized, marksIn, pairsOf, passCost, passTimes, tickOf, tooShort } from './arithmetic'

/** Marks of passes that run one after the other, each `cost` ns longer than its calls. */
function marksOf(calls: readonly number[], nsPerCall: number, cost: number, gap = 100): number[] {
  let now = 1_000_000
  return calls.flatMap((n) => {
    const begin = (now += gap)
    now += cost + n * nsPerCall
    return [begin, now]
  })
}

describe('hot samples', () => {
  it('do not contain what a pass costs', () => {
    const passes = passTimes(marksOf([10, 20, 10, 20], 37, 5000))
    expect(pairsOf(passes).map(({ onceNs, twiceNs }) => (twiceNs - onceNs) / 10)).toEqual([37, 37])
    expect(passCost(passes)).toBe(5000)
  })

  it('count a pass from the end of the one before when its begin mark came early', () => {
    // The second pass was marked as begun at 300 while the first ran until 1100.
    expect([...passTimes([100, 1100, 300, 1700])]).toEqual([1000, 600])
  })

  it('leave out a pass whose mark was not written or lies before the end of the pass before it', () => {
    expect(passTimes([100, 200, undefined, 400, 500, undefined, 600, 700])).toEqual([100, undefined, undefined, 100])
    expect(passTimes([1000, 1100, 1200, 900, 1000, 1050])).toEqual([100, undefined, 50])
    expect(pairsOf([10, undefined, 10, 25, undefined, 3])).toEqual([{ onceNs: 10, twiceNs: 25 }])
    expect(passCost([10, undefined, 10, 15])).toBe(5)
  })

  it('ask for longer passes when noise swallows them', () => {
    expect(tooShort([5, -1, 4, -3])).toBe(true)
    expect(tooShort([5, 6, 4, 0, 7, 6, 5, 5])).toBe(false)
  })

  it('give no pass cost that is negative', () => {
    expect(passCost([10, 25])).toBeUndefined()
    expect(passCost([])).toBeUndefined()
  })
})

describe('the clock behind timestamps', () => {
  it('loses no digit where it counts from 1970', () => {
    const now = 1_763_718_000_123_456_789n
    expect(marksIn(BigUint64Array.of(now, now + 32n, 0n, now - 64n))).toEqual([0, 32, undefined, -64])
    expect(marksIn(BigUint64Array.of(0n, now, now + 96n))).toEqual([undefined, 0, 96])
    expect(marksIn(BigUint64Array.of(0n, 0n))).toEqual([undefined, undefined])
  })

  it('knows a whole period from the marks alone', () => {
    expect(tickOf([32_000, 32_064, 32_224, 33_184])).toBe(32)
  })

  it('knows a period that is not whole', () => {
    const marks = [0, 1, 3, 4, 9, 20, 41, 90].map((n) => Math.round(7000 + (n * 1000) / 12))
    expect(tickOf(marks)).toBeCloseTo(1000 / 12, 1)
  })

  it('takes 1 ns for a clock that shows every ns', () => {
    expect(tickOf([1000, 1211, 1500, 1997, 2400, 2603])).toBe(1)
    expect(tickOf([5])).toBe(1)
  })

  it('notices that Chromium rounded them', () => {
    expect(isQuantized([65536 * 7, 65536 * 9])).toBe(true)
    expect(isQuantized([65536 * 7, 65536 * 9 + 32])).toBe(false)
    expect(isQuantized([])).toBe(false)
  })
})
