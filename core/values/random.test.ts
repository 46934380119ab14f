import { describe, expect, it } from 'vitest'
import fixture from '../../test/fixtures/random.json'
import type { StorageType } from '../case'
import { toBf16Bits, toE4m3Bits, toF16Bits } from './numbers'
import { fillFactor, fillRange, mix32, streamKeys, UNIT, philox4x32, type FillSpec } from './random'

const f32Bits = (values: Float32Array) => Array.from(new Uint32Array(values.buffer))
const TO_BITS: Record<StorageType, (value: number) => number> = {
  f32: (value) => f32Bits(Float32Array.of(value))[0]!,
  f16: toF16Bits,
  bf16: toBf16Bits,
  f8e4m3: toE4m3Bits,
  i32: (value) => value >>> 0,
  i8: (value) => value & 0xff,
  u8: (value) => value & 0xff,
}
const unit = { kind: 'normal', scale: 1 } as const

describe('fillRange', () => {
  it.each(fixture.tensors)('gives the bits NumPy gives: seed $seed, stream $stream, $fill, from $start', ({ seed, stream, fill, start, bits }) => {
    for (const [storage, expected] of Object.entries(bits) as [StorageType, number[]][]) {
      const values = fillRange(seed, stream, fill as FillSpec, storage, start, 8)
      expect({ storage, bits: Array.from(values, TO_BITS[storage]) }).toEqual({ storage, bits: expected })
    }
  })

  it('any part is the same as that part of the whole', () => {
    const whole = fillRange(1, 0, unit, 'f32', 0, 1000)
    expect(fillRange(1, 0, unit, 'f32', 777, 100)).toEqual(whole.slice(777, 877))
  })

  it('has the moments of a unit normal, cut at 3.47', () => {
    const n = 400_000
    const x = fillRange(42, 0, unit, 'f32', 0, n)
    const moment = (power: number) => x.reduce((sum, v) => sum + v ** power, 0) / n
    expect(Math.abs(moment(1))).toBeLessThan(0.006)
    expect(Math.abs(moment(2) - 1)).toBeLessThan(0.01)
    expect(Math.abs(moment(3))).toBeLessThan(0.02)
    // Irwin-Hall with n = 4 has excess kurtosis -6/5/4.
    expect(Math.abs(moment(4) - 2.7)).toBeLessThan(0.05)
    expect(x.reduce((max, v) => Math.max(max, Math.abs(v)), 0)).toBeLessThan(3.47)
  })

  it('positive values are above zero, and scale multiplies', () => {
    const positive = fillRange(42, 0, { kind: 'positive', scale: 1 }, 'f32', 0, 100_000)
    expect(positive.every((v) => v > 0)).toBe(true)
    const one = fillRange(42, 0, unit, 'f32', 0, 100)
    expect(Array.from(fillRange(42, 0, { kind: 'normal', scale: 4 }, 'f32', 0, 100))).toEqual(Array.from(one, (v) => v * 4))
  })

  it('neighbours, streams and seeds are unrelated', () => {
    const n = 100_000
    const x = fillRange(1, 0, unit, 'f32', 0, n + 1)
    const correlation = (other: (i: number) => number) => {
      let sum = 0
      for (let i = 0; i < n; i++) sum += x[i]! * other(i)
      return Math.abs(sum / n)
    }
    const stream = fillRange(1, 1, unit, 'f32', 0, n)
    const seed = fillRange(2, 0, unit, 'f32', 0, n)
    expect(correlation((i) => x[i + 1]!)).toBeLessThan(0.013)
    expect(correlation((i) => stream[i]!)).toBeLessThan(0.013)
    expect(correlation((i) => seed[i]!)).toBeLessThan(0.013)
  })
})

it('mix32 is the published lowbias32 and keeps distinct inputs distinct', () => {
  expect([mix32(0), mix32(1), mix32(0xffffffff)]).toEqual([0, 1753845952, 1734902346])
  expect(new Set(Array.from({ length: 10_000 }, (_, i) => mix32(i))).size).toBe(10_000)
})

it('keys and factor are what a backend is handed', () => {
  expect(fillFactor(unit)).toBe(UNIT)
  const { key0, key1 } = streamKeys(0xffffffff, 5)
  expect([key0 >>> 0, key1 >>> 0]).toEqual([key0, key1])
  expect(streamKeys(1, 0)).not.toEqual(streamKeys(1, 1))
})

describe('other fills', () => {
  const n = 20_000
  it('uniform lies in [0, scale) with its mean and variance', () => {
    const x = fillRange(3, 0, { kind: 'uniform', scale: 4 }, 'f32', 0, n)
    const mean = x.reduce((sum, v) => sum + v, 0) / n
    expect(x.every((v) => v >= 0 && v < 4)).toBe(true)
    expect(Math.abs(mean - 2)).toBeLessThan(0.05)
    expect(Math.abs(x.reduce((sum, v) => sum + (v - 2) ** 2, 0) / n - 16 / 12)).toBeLessThan(0.05)
  })

  it.each([[1, 0], [7, -3], [255, -127], [2 ** 31 - 1, 0]])('integers: %d values from %d on, all met about equally often', (below, low) => {
    const x = fillRange(3, 0, { kind: 'integers', below, low }, 'i32', 5, n)
    expect(x).toBeInstanceOf(Int32Array)
    expect(x.every((v) => v >= low && v < low + below)).toBe(true)
    const half = x.filter((v) => v - low < below / 2).length / n
    if (below > 1) expect(Math.abs(half - Math.ceil(below / 2) / below)).toBeLessThan(0.02)
  })

  it.each([1, 2, 3, 1000, 4096, 4097])('permutation of %d holds each value once, in no plain order', (below) => {
    const x = fillRange(9, 1, { kind: 'permutation', below }, 'i32', 0, below)
    expect([...x].sort((a, b) => a - b)).toEqual(Array.from({ length: below }, (_, i) => i))
    if (below >= 1000) expect([...x].filter((v, i) => v === i).length).toBeLessThan(20)
    expect(fillRange(9, 1, { kind: 'permutation', below }, 'i32', below, below)).toEqual(x)
  })

  it('constant is that value, rounded', () => expect(Array.from(fillRange(1, 0, { kind: 'constant', value: 1 / 3 }, 'bf16', 9, 2))).toEqual([0.333984375, 0.333984375]))
})

describe('elements beyond 2^32', () => {
  it.each<FillSpec>([unit, { kind: 'uniform', scale: 1 }, { kind: 'integers', below: 1000 }])('$kind: a range across the border is made of its two sides, and does not repeat', (fill) => {
    const across = fillRange(1, 0, fill, 'f32', 2 ** 32 - 50, 100)
    expect(Array.from(across.subarray(0, 50))).toEqual(Array.from(fillRange(1, 0, fill, 'f32', 2 ** 32 - 50, 50)))
    expect(Array.from(across.subarray(50))).toEqual(Array.from(fillRange(1, 0, fill, 'f32', 2 ** 32, 50)))
    expect(Array.from(across.subarray(50))).not.toEqual(Array.from(fillRange(1, 0, fill, 'f32', 0, 50)))
  })
})

// Known answers of the Random123 library (kat_vectors), philox4x32 with ten rounds.
it.each<[counter: [number, number, number, number], key: [number, number], out: number[]]>([
  [[0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
  [[0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
  [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]],
])('philox4x32 of %j with key %j', (counter, key, out) => expect(philox4x32(counter, key)).toEqual(out))
