import { describe, expect, it } from 'vitest'
import { getOp } from '../ops/registry'
import { conv2d, gemm, matrix, vector, type SizeForm } from '../ops/forms'
import { MAX_SIZES, parseSizes, sizeParams, sizeText } from './sizes'

const FORMS = { vector, matrix, gemm } as const
type Kind = keyof typeof FORMS
const sizes = (kind: Kind, text: string) => {
  const result = parseSizes(FORMS[kind], text)
  if (!result.ok) throw new Error(result.message)
  return result.sizes
}
const lengths = (text: string) => sizes('vector', text).map(([n]) => n)
const shapes = (kind: Kind, text: string) => sizes(kind, text).map((size) => size.filter((extent) => extent !== undefined).join('x')).join(' ')

describe('vector sizes', () => {
  it.each<[string, number[]]>([
    ['', []],
    ['  ,, ', []],
    ['100', [100]],
    ['100, 1K 10K,100K\n1M', [100, 1000, 10_000, 100_000, 1_000_000]],
    ['64Ki 1Mi 2Gi 1g', [65536, 1048576, 2 ** 31, 1e9]],
    ['1.5M 65.5K 1_000', [1_500_000, 65_500, 1000]],
    ['2^10 3^2', [1024, 9]],
    ['2^10..2^13', [1024, 2048, 4096, 8192]],
    ['1..8', [1, 2, 4, 8]],
    ['2^10..2^15 x4', [1024, 4096, 16384]],
    ['2^10..2^14x4', [1024, 4096, 16384]],
    ['100 .. 1M x10', [100, 1000, 10_000, 100_000, 1_000_000]],
    ['1000..5000 step 1000', [1000, 2000, 3000, 4000, 5000]],
    ['1000..4500 step 1K, 7', [1000, 2000, 3000, 4000, 7]],
    ['{1, 2, 3}', [1, 2, 3]],
    ['5, 5, 5 6', [5, 6]],
    ['8..8', [8]],
  ])('%j', (text, expected) => expect(lengths(text)).toEqual(expected))
})

describe('shapes', () => {
  it.each<[Kind, string, string]>([
    ['matrix', '4096x1024', '4096x1024'],
    ['matrix', '512', '512x512'],
    ['matrix', '256..1024', '256x256 512x512 1024x1024'],
    ['matrix', '256..4096 x4', '256x256 1024x1024 4096x4096'],
    ['matrix', '1024..2048 x 512', '1024x512 2048x512'],
    ['matrix', '1024..2048x512', '1024x512 2048x512'],
    ['matrix', '16 × 32', '16x32'],
    ['matrix', '{128,256}x{1024..4096}', '128x1024 128x2048 128x4096 256x1024 256x2048 256x4096'],
    ['matrix', '{64..1024 x4}x8', '64x8 256x8 1024x8'],
    ['matrix', '1024x1024, 4096x{1024,4096}', '1024x1024 4096x1024 4096x4096'],
    ['matrix', '1Kx1Ki', '1000x1024'],
    ['gemm', '64', '64x64x64'],
    ['gemm', '64..256', '64x64x64 128x128x128 256x256x256'],
    ['gemm', '16x4096x{1024,4096}', '16x4096x1024 16x4096x4096'],
  ])('%s %j', (kind, text, expected) => expect(shapes(kind, text)).toBe(expected))
})

describe('mistakes', () => {
  it.each<[Kind, string, number, RegExp]>([
    ['vector', '100, abc', 5, /at character 6: expected a size such as 4096, 64Ki or 2\^12, found "abc"/],
    ['vector', '0', 0, /expected a whole number from 1 to 1099511627776, found 0/],
    ['vector', '1.5', 0, /whole number.*found 1\.5/],
    ['vector', '2^41', 0, /whole number.*found 2\^41/],
    ['vector', '2^99999', 0, /whole number/],
    ['vector', '-5', 0, /expected a size.*found "-5"/],
    ['vector', '100..', 5, /expected the last size of the range$/],
    ['vector', '100..1000', 0, /only a range between powers of two doubles by itself; add " x2" or " step 1000"/],
    ['vector', '64..32', 0, /ends at 32, before its start 64/],
    ['vector', '8..64 x1', 0, /factor of 1/],
    ['vector', '1..4Gi step 1', 0, /too many steps/],
    ['vector', '1..50000 step 1', 0, new RegExp(`more than ${MAX_SIZES} sizes`)],
    ['vector', '8x8', 0, /2 extents; expected a length/],
    ['vector', '{1,2', 0, /brace is not closed/],
    ['vector', '{}', 0, /braces are empty/],
    ['vector', '12kb', 2, /expected a comma, a space or the end, found "kb"/],
    ['vector', '1,2}', 3, /found "}"/],
    ['matrix', '1x2x3', 0, /3 extents; expected rows x columns such as 4096x1024/],
    ['matrix', '12x', 2, /found "x"/],
    ['matrix', '{1..1024 step 1}x{1..1024 step 1}', 0, /1048576 combinations; at most/],
    ['gemm', '5, 4x4', 3, /2 extents; expected m x n x k/],
  ])('%s %j', (kind, text, position, message) => {
    expect(parseSizes(FORMS[kind], text)).toMatchObject({ ok: false, position, message: expect.stringMatching(message) as string })
  })

  it('no text makes it throw or hang', () => {
    const alphabet = '0123456789kKMgi^.x×,; {}step-_…e'
    let state = 1
    for (let round = 0; round < 20_000; round++) {
      let text = ''
      for (let i = 0; i < 12; i++) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0
        text += alphabet[(state >>> 16) % alphabet.length]!
      }
      for (const kind of ['vector', 'gemm'] as const) {
        const result = parseSizes(FORMS[kind], text)
        if (result.ok) for (const size of result.sizes) expect(size.every((n) => n === undefined || (Number.isInteger(n) && n >= 1))).toBe(true)
        else expect(result.position).toBeLessThanOrEqual(text.length)
      }
    }
  })
})

it('sizes go to the parameters an op names', () => {
  expect(sizeParams(getOp('gelu').size, [8])).toEqual({ n: 8 })
  expect(sizeParams(getOp('softmax').size, [8, 4])).toEqual({ rows: 8, cols: 4 })
  expect(sizeParams(getOp('layer_norm').size, [8, 4])).toEqual({ tokens: 8, dim: 4 })
  expect(sizeParams(getOp('matmul').size, [8, 4, 2])).toEqual({ m: 8, n: 4, k: 2 })
})

describe('extents by name', () => {
  const read = (form: SizeForm, text: string) => {
    const result = parseSizes(form, text)
    return result.ok ? result.sizes.map((size) => sizeParams(form, size)) : result.message
  }
  it('follow a shape, and belong to it alone', () => {
    expect(read(gemm, '64, 32x16x8 batch=4 128')).toEqual([{ m: 64, n: 64, k: 64 }, { m: 32, n: 16, k: 8, batch: 4 }, { m: 128, n: 128, k: 128 }])
  })
  it('may be short, set several extents together, and hold lists and ranges', () => {
    expect(read(conv2d, 'n=1 c=3 hw={28,56} k=8 r=3 s=2, n={2..4} c=1 h=5 w=7 k=1 r=1 p=0')).toEqual([
      { batch: 1, channels: 3, height: 28, width: 28, filters: 8, kernelHeight: 3, kernelWidth: 3, stride: 2 },
      { batch: 1, channels: 3, height: 56, width: 56, filters: 8, kernelHeight: 3, kernelWidth: 3, stride: 2 },
      ...[2, 4].map((batch) => ({ batch, channels: 1, height: 5, width: 7, filters: 1, kernelHeight: 1, kernelWidth: 1, paddingHeight: 0, paddingWidth: 0 })),
    ])
  })
  it('are written back as they are read', () => {
    const params = { m: 32, n: 16, k: 8, batch: 4 }
    expect(sizeText(gemm, params)).toBe('32x16x8 batch=4')
    expect(read(gemm, sizeText(gemm, params))).toEqual([params])
  })
  it.each<[string, SizeForm, string, RegExp]>([
    ['unknown', gemm, '8x8x8 depth=3', /at character 7: there is no extent "depth"; expected one of b, m, n, k, batch/],
    ['missing', conv2d, 'n=1 c=3 hw=28', /filters, kernelHeight missing; expected extents by name such as n=32/],
    ['too small', conv2d, 'n=1 c=3 hw=28 k=1 r=0', /expected a whole number from 1 to/],
    ['a shape where only names will do', conv2d, '1x3x28', /expected extents by name/],
    ['a word', gemm, 'batch', /expected a size/],
  ])('%s', (_what, form, text, message) => expect(read(form, text)).toMatch(message))
})
