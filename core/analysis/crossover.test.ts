import { describe, expect, it } from 'vitest'
import { crossovers, crossoverSentence, type SizedTiming } from './crossover'

const SIZES = [64, 128, 256, 512, 1024]
/** Times that follow a power law of size, each with an interval of so much on the log scale. */
const power = (scale: number, exponent: number, half = 0.001, sizes = SIZES): SizedTiming[] =>
  sizes.map((size) => timing(size, scale * size ** exponent, half))
const timing = (size: number, medianNs: number, half: number): SizedTiming => ({ size, medianNs, ciLowNs: medianNs * Math.exp(-half), ciHighNs: medianNs * Math.exp(half) })
const at = (values: readonly number[], half = 0.005): SizedTiming[] => values.map((medianNs, i) => timing(SIZES[i]!, medianNs, half))
const winners = (a: readonly SizedTiming[], b: readonly SizedTiming[]) => crossovers(a, b).found.map(({ winner }) => winner)

describe('crossovers', () => {
  it('finds where power laws meet exactly, whoever comes first', () => {
    // 10 n^0.5 = n at n = 100; both take 100 ns there.
    const [one] = crossovers(power(10, 0.5), power(1, 1)).found
    expect(one).toMatchObject({ winner: 'a' })
    expect(one!.size).toBeCloseTo(100, 6)
    expect(one!.ns).toBeCloseTo(100, 6)
    expect(crossovers(power(1, 1), power(10, 0.5)).found[0]).toMatchObject({ winner: 'b' })
  })
  it('has an interval where the band of the difference holds zero', () => {
    const [one] = crossovers(power(10, 0.5, 0.1), power(1, 1, 0.1)).found
    // ln ratio = 0.5 ln n - ln 10, give or take 0.1 sqrt 2.
    const reach = 2 * 0.1 * Math.SQRT2
    expect(Math.log(one!.low)).toBeCloseTo(Math.log(100) - reach, 6)
    expect(Math.log(one!.high)).toBeCloseTo(Math.log(100) + reach, 6)
  })
  it('is none where one is faster throughout, or the other measured nothing', () => {
    expect(crossovers(power(1, 1), power(2, 1))).toEqual({ found: [], unclear: false })
    expect(crossovers(power(1, 1), [])).toEqual({ found: [], unclear: false })
  })
  it('is none where noise alone changes the order, which is unclear', () => {
    // ±20 % around equal times; and one side clear, the other not.
    expect(crossovers(at([100, 100, 100], 0.2), at([95, 104, 97], 0.2))).toEqual({ found: [], unclear: true })
    expect(crossovers(at([100, 100, 100], 0.05), at([60, 104, 97], 0.05))).toEqual({ found: [], unclear: true })
    // Intervals that exclude equality, but not by the threshold.
    expect(crossovers(at([100, 100], 0.001), at([99.5, 100.5], 0.001))).toEqual({ found: [], unclear: true })
    // Times of a file without intervals.
    expect(crossovers([{ size: 64, medianNs: 1 }, { size: 128, medianNs: 9 }], [{ size: 64, medianNs: 2 }, { size: 128, medianNs: 2 }])).toEqual({ found: [], unclear: true })
  })
  it('is one where sizes in between are unclear, from the last change of order to the clear winner', () => {
    const { found, unclear } = crossovers(at([100, 100, 100, 100, 100], 0.05), at([50, 101, 99, 101, 200], 0.05))
    expect([found.map(({ winner }) => winner), unclear]).toEqual([['a'], false])
    expect(found[0]!.size).toBeGreaterThan(256)
    expect(found[0]!.size).toBeLessThan(512)
    expect([found[0]!.low < 128, found[0]!.high > 512]).toEqual([true, true])
  })
  it('tells of every clear change of places, in order of size', () => {
    expect(winners(at([10, 10, 10, 10]), at([5, 20, 20, 5]))).toEqual(['a', 'b'])
  })
  it('counts a tie once, with the size that tells them apart', () => {
    expect(winners(at([10, 10, 10]), at([5, 10, 20]))).toEqual(['a'])
    expect(crossovers(at([10, 10, 10]), at([5, 10, 5]))).toEqual({ found: [], unclear: false })
  })
  it('lies inside its interval, also where both took the same time', () => {
    const [one] = crossovers(at([10, 10, 10, 10], 0), at([9.8, 10, 10, 20], 0)).found
    expect([one!.low, one!.size, one!.high].map((size) => Number(size.toFixed(6)))).toEqual([128, Number(Math.sqrt(128 * 256).toFixed(6)), 256])
  })
  it('compares at sizes that both measured', () => {
    expect(crossovers(power(10, 0.5, 0.001, [64, 200, 1024]), power(1, 1, 0.001, [64, 300, 1024])).found[0]!.size).toBeCloseTo(100, 6)
  })
})

it('the sentence names the winner first and says how sure it is', () => {
  expect(crossoverSentence({ winner: 'b', size: 312.4, ns: 1, low: 260, high: 390 }, 'scalar', 'avx2', (size) => size.toFixed(0))).toBe('avx2 beats scalar from 312 (260 to 390) elements')
})
