import { describe, expect, it } from 'vitest'
import { crossovers, crossoverSentence, type SizedTiming } from './crossover'

const SIZES = [64, 128, 256, 512, 1024]
/** Times that follow a power law of size, each with an interval of so much on the log scale. */
const power = (scale: number, exponent: number, half?: number, sizes = SIZES): SizedTiming[] =>
  sizes.map((size) => {
    const medianNs = scale * size ** exponent
    return { size, medianNs, ...(half === undefined ? {} : { ciLowNs: medianNs * Math.exp(-half), ciHighNs: medianNs * Math.exp(half) }) }
  })

describe('crossovers', () => {
  it('finds where power laws meet exactly, whoever comes first', () => {
    // 10 n^0.5 = n at n = 100; both take 100 ns there.
    const [one] = crossovers(power(10, 0.5), power(1, 1))
    expect(one).toMatchObject({ winner: 'a' })
    expect(one!.size).toBeCloseTo(100, 6)
    expect(one!.ns).toBeCloseTo(100, 6)
    expect(crossovers(power(1, 1), power(10, 0.5))[0]).toMatchObject({ winner: 'b' })
  })
  it('has an interval where the band of the difference holds zero', () => {
    const [one] = crossovers(power(10, 0.5, 0.1), power(1, 1, 0.1))
    // ln ratio = 0.5 ln n - ln 10, give or take 0.1 sqrt 2.
    const reach = 2 * 0.1 * Math.SQRT2
    expect(Math.log(one!.low!)).toBeCloseTo(Math.log(100) - reach, 6)
    expect(Math.log(one!.high!)).toBeCloseTo(Math.log(100) + reach, 6)
  })
  it('leaves an end open that the measured sizes do not settle', () => {
    const [one] = crossovers(power(10, 0.5, 0.4), power(1, 1, 0.4))
    expect(one!.low).toBeUndefined()
    expect(one!.high).toBeGreaterThan(100)
  })
  it('has no interval without intervals, and no crossing where one is faster throughout', () => {
    expect(crossovers(power(10, 0.5), power(1, 1))[0]).not.toHaveProperty('low')
    expect(crossovers(power(1, 1), power(2, 1))).toEqual([])
    expect(crossovers(power(1, 1), [])).toEqual([])
  })
  it('tells of every change of places, in order of size', () => {
    const at = (values: number[]): SizedTiming[] => values.map((medianNs, i) => ({ size: SIZES[i]!, medianNs }))
    expect(crossovers(at([10, 10, 10, 10]), at([5, 20, 20, 5])).map((one) => one.winner)).toEqual(['a', 'b'])
  })
  it('counts a tie once, with the size that tells them apart', () => {
    const at = (values: number[]): SizedTiming[] => values.map((medianNs, i) => ({ size: SIZES[i]!, medianNs }))
    expect(crossovers(at([10, 10, 10]), at([5, 10, 20]))).toHaveLength(1)
    expect(crossovers(at([10, 10, 10]), at([5, 10, 5]))).toEqual([])
  })
  it('compares at sizes that both measured', () => {
    expect(crossovers(power(10, 0.5, undefined, [64, 200, 1024]), power(1, 1, undefined, [64, 300, 1024]))[0]!.size).toBeCloseTo(100, 6)
  })
})

describe('the sentence', () => {
  const one = { winner: 'b' as const, size: 312.4, ns: 1 }
  const say = (low?: number, high?: number) => crossoverSentence({ ...one, ...(low === undefined ? {} : { low }), ...(high === undefined ? {} : { high }) }, 'scalar', 'avx2', (size) => size.toFixed(0))
  it('names the winner first and says how sure it is', () => {
    expect(say(260, 390)).toBe('avx2 beats scalar from 312 (260 to 390) elements')
    expect(say()).toBe('avx2 beats scalar from 312 elements')
  })
  it('says which end the measured sizes leave open', () => {
    expect(say(undefined, 390)).toContain('(at most 390)')
    expect(say(260)).toContain('(at least 260)')
  })
})
