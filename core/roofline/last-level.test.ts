import { describe, expect, it } from 'vitest'
import { lastLevelBytes, sweepSizes, type ReadRate } from './last-level'

const MiB = 2 ** 20
const sweepOf = (rates: readonly number[], from = MiB): ReadRate[] => sweepSizes(from, from * 2 ** ((rates.length - 1) / 2)).map((bytes, i) => ({ bytes, rate: rates[i]! }))
const found = (sweep: readonly ReadRate[]) => {
  const last = lastLevelBytes(sweep)
  return 'bytes' in last ? last.bytes / MiB : last.reason
}

/** A cache of `cache` bytes that holds any part of a larger set with equal chance. */
const modelled = (cache: number, { memory, cached }: { memory: number; cached: number }, sizes = sweepSizes(MiB, 1024 * MiB)): ReadRate[] =>
  sizes.map((bytes) => {
    const hit = Math.min(1, cache / bytes) ** 4
    return { bytes, rate: 1 / (hit / cached + (1 - hit) / memory) }
  })

describe('sweepSizes', () => {
  it('has two sizes an octave, in whole vectors', () => {
    expect(sweepSizes(MiB, 4 * MiB).map((bytes) => +(bytes / MiB).toFixed(2))).toEqual([1, 1.41, 2, 2.83, 4])
    expect(sweepSizes(MiB, 1000 * MiB).every((bytes) => bytes % 16 === 0 && bytes <= 1000 * MiB)).toBe(true)
  })
})

describe('lastLevelBytes', () => {
  it.each([
    ['4 MiB of a small GPU', 4, { memory: 0.1, cached: 0.4 }],
    ['50 MiB', 50, { memory: 3, cached: 5.5 }],
    ['96 MiB', 96, { memory: 1, cached: 3 }],
    ['256 MiB', 256, { memory: 5, cached: 14 }],
  ])('covers a cache of %s, and less than four times of it', (_, cache, rates) => {
    const last = lastLevelBytes(modelled(cache * MiB, rates))
    expect(last).toHaveProperty('bytes')
    const { bytes } = last as { bytes: number }
    expect(bytes / MiB).toBeGreaterThanOrEqual(cache)
    expect(bytes / MiB).toBeLessThan(4 * cache)
  })

  it('is 128 MiB of an NVIDIA H200, whose L2 has 60 MB: its sweep, in GB/s', () => {
    expect(found(sweepOf([161, 801, 1250, 1640, 2490, 3390, 4840, 6400, 8040, 8530, 8660, 6690, 7300, 5400, 4600, 4630, 4620, 4650, 4650, 4690, 4620]))).toBe(128)
  })

  it('is not found on two processor cores that play a device: their sweep', () => {
    expect(found(sweepOf([1.37, 1.37, 1.35, 1.36, 1.33, 1.29, 1.24, 1.23, 1.08, 1.21, 1.21, 1.55, 1.82]))).toBe('the bandwidth of the largest sizes still changes')
  })

  it('is not misled by small sizes, whose reads do not fill the device', () => {
    expect(found(sweepOf([0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5, 5.2, 5.1, 5.3, 5.2, 4.9, 4.4, 4.1, 4.0, 4.05, 4.0, 4.02]))).toBeCloseTo(90.51)
  })

  it('is not found without enough sizes, without a cache that shows, or where the largest sizes are not those of memory', () => {
    expect(found(sweepOf([3, 2, 1]))).toBe('the sweep has 3 sizes')
    expect(found(sweepOf([1, 1.02, 1, 0.99, 1.01, 1, 1, 1.01]))).toBe('no size is read faster than memory')
    expect(found(sweepOf([5, 5, 5, 5, 5, 4, 3, 2]))).toBe('the bandwidth of the largest sizes still changes')
  })
})
