import { describe, expect, it } from 'vitest'
import { decode, E4M3_MAX, fromBf16Bits, fromE4m3Bits, fromF16Bits, roundToStorage, SENTINEL, toBf16Bits, toE4m3Bits, toF16Bits } from './numbers'

const bitsOf = (value: number) => new Uint32Array(new Float32Array([value]).buffer)[0]!

describe('f16', () => {
  it.each([
    ['zero', 0, 0x0000],
    ['negative zero', -0, 0x8000],
    ['one', 1, 0x3c00],
    ['-2', -2, 0xc000],
    ['the largest', 65504, 0x7bff],
    ['just under the step to infinity', 65519.99, 0x7bff],
    ['the tie to infinity', 65520, 0x7c00],
    ['far beyond', 1e10, 0x7c00],
    ['infinity', -Infinity, 0xfc00],
    ['a tie to the even below', 1 + 2 ** -11, 0x3c00],
    ['a tie to the even above', 1 + 3 * 2 ** -11, 0x3c02],
    ['just over a tie', 1 + 2 ** -11 + 2 ** -20, 0x3c01],
    ['a carry into the exponent', 2 - 2 ** -12, 0x4000],
    ['the smallest normal', 2 ** -14, 0x0400],
    ['a carry from subnormal to normal', 2 ** -14 - 2 ** -26, 0x0400],
    ['the largest subnormal', 2 ** -14 - 2 ** -24, 0x03ff],
    ['the smallest subnormal', 2 ** -24, 0x0001],
    ['a subnormal tie to even zero', 2 ** -25, 0x0000],
    ['over that tie', 2 ** -25 * 1.001, 0x0001],
    ['a subnormal tie to the even above', 3 * 2 ** -25, 0x0002],
    ['a negative subnormal', -5 * 2 ** -24, 0x8005],
    ['an f32 subnormal', 1e-40, 0x0000],
  ])('%s', (_name, value, bits) => {
    expect(toF16Bits(value)).toBe(bits)
  })

  it('every pattern survives the way to f32 and back', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = fromF16Bits(bits)
      if (Number.isNaN(value)) expect(toF16Bits(value) & 0x7e00).toBe(0x7e00)
      else if (toF16Bits(value) !== bits) expect.fail(`0x${bits.toString(16)} came back as 0x${toF16Bits(value).toString(16)}`)
    }
  })
})

describe('bf16', () => {
  it.each([
    ['one', 1, 0x3f80],
    ['negative zero', -0, 0x8000],
    ['a tie to the even below', 1 + 2 ** -8, 0x3f80],
    ['a tie to the even above', 1 + 3 * 2 ** -8, 0x3f82],
    ['just over a tie', 1 + 2 ** -8 + 2 ** -20, 0x3f81],
    ['the largest f32', 3.4028234663852886e38, 0x7f80],
    ['the largest bf16', 3.3895313892515355e38, 0x7f7f],
    ['infinity', Infinity, 0x7f80],
    ['a subnormal', 2 ** -133, 0x0001],
    ['half the smallest subnormal, a tie to zero', 2 ** -134, 0x0000],
  ])('%s', (_name, value, bits) => {
    expect(toBf16Bits(value)).toBe(bits)
  })

  it('every pattern survives the way to f32 and back', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = fromBf16Bits(bits)
      if (Number.isNaN(value)) expect(Number.isNaN(fromBf16Bits(toBf16Bits(value)))).toBe(true)
      else if (toBf16Bits(value) !== bits) expect.fail(`0x${bits.toString(16)} came back as 0x${toBf16Bits(value).toString(16)}`)
    }
  })

  it('a NaN whose payload lies in the cut bits stays NaN', () => {
    const nan = new Float32Array(new Uint32Array([0x7f800001]).buffer)[0]!
    expect(Number.isNaN(fromBf16Bits(toBf16Bits(nan)))).toBe(true)
  })
})

describe('e4m3', () => {
  it.each([
    ['zero', 0, 0x00],
    ['one', 1, 0x38],
    ['the largest', 448, 0x7e],
    ['beyond it, saturated', 1e6, 0x7e],
    ['negative infinity, saturated', -Infinity, 0xfe],
    ['the smallest normal', 2 ** -6, 0x08],
    ['a carry from subnormal to normal', 2 ** -6 - 2 ** -11, 0x08],
    ['the smallest subnormal', 2 ** -9, 0x01],
    ['a tie to even zero', 2 ** -10, 0x00],
    ['a tie to the even above', 3 * 2 ** -10, 0x02],
    ['a carry into the exponent', 1.97, 0x40],
    ['a tie to the even below', 1.0625, 0x38],
  ])('%s', (_name, value, bits) => expect(toE4m3Bits(value)).toBe(bits))

  it('every pattern survives the way to f32 and back', () => {
    for (let bits = 0; bits < 0x100; bits++) {
      const value = fromE4m3Bits(bits)
      if (Number.isNaN(value)) expect(toE4m3Bits(value)).toBe(0x7f)
      else expect(toE4m3Bits(value)).toBe(bits)
    }
  })
})

describe('roundToStorage', () => {
  it('rounds in place to what the dtype holds and leaves f32 storage alone', () => {
    const x = () => new Float32Array([1 / 3, 1e-9, 70000])
    expect(Array.from(roundToStorage(x(), 'f32'))).toEqual(Array.from(x()))
    expect(Array.from(roundToStorage(x(), 'f8e4m3'))).toEqual([0.34375, 0, E4M3_MAX])
    expect(Array.from(roundToStorage(x(), 'f16'))).toEqual([0.333251953125, 0, Infinity])
    expect(Array.from(roundToStorage(x(), 'bf16'))).toEqual([0.333984375, fromBf16Bits(toBf16Bits(1e-9)), 70144])
  })
})

describe('decode', () => {
  it('reads raw tensor memory of each storage type', () => {
    expect(Array.from(decode(new Float32Array([1.5, -2]).buffer, 'f32'))).toEqual([1.5, -2])
    expect(Array.from(decode(new Uint16Array([0x3c00, 0xc000]).buffer, 'f16'))).toEqual([1, -2])
    expect(Array.from(decode(new Int32Array([-7, 2 ** 30]).buffer, 'i32'))).toEqual([-7, 2 ** 30])
    expect(Array.from(decode(new Uint8Array([0x38, 0xc0]).buffer, 'f8e4m3'))).toEqual([1, -2])
    expect(Array.from(decode(new Uint16Array([0x3f80, 0xc000]).buffer, 'bf16'))).toEqual([1, -2])
  })
})

describe('the sentinel', () => {
  it('is a quiet NaN in every storage type, other than the usual one', () => {
    expect(Number.isNaN(fromF16Bits(SENTINEL.f16)) && Number.isNaN(fromBf16Bits(SENTINEL.bf16))).toBe(true)
    expect(SENTINEL.f32 & 0x7fc00000).toBe(0x7fc00000)
    expect([SENTINEL.f32 === bitsOf(NaN), SENTINEL.f16 === toF16Bits(NaN), SENTINEL.bf16 === toBf16Bits(NaN)]).toEqual([false, false, false])
    expect(Number.isNaN(fromE4m3Bits(SENTINEL.f8e4m3))).toBe(true)
  })
})
