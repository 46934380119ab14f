import { describe, expect, it } from 'vitest'
import fixture from '../test/fixtures/random.json'
import { toBf16Bits, toF16Bits } from './numbers'
import { fillFactor, fillRange, mix32, streamKeys, UNIT, type FillSpec } from './random'

const f32Bits = (values: Float32Array) => Array.from(new Uint32Array(values.buffer))
const unit: FillSpec = { kind: 'normal', scale: 1 }

describe('fillRange', () => {
  it.each(fixture.tensors)('gives the bits NumPy gives: seed $seed, stream $stream, $kind, from $start', ({ seed, stream, kind, scale, start, bits }) => {
    const fill = { kind: kind as FillSpec['kind'], scale }
    expect(f32Bits(fillRange(seed, stream, fill, 'f32', start, 8))).toEqual(bits.f32)
    expect(f32Bits(fillRange(seed, stream, fill, 'tf32', start, 8))).toEqual(bits.f32)
    expect(Array.from(fillRange(seed, stream, fill, 'f16', start, 8), toF16Bits)).toEqual(bits.f16)
    expect(Array.from(fillRange(seed, stream, fill, 'bf16', start, 8), toBf16Bits)).toEqual(bits.bf16)
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
