import { expect, it } from 'vitest'
import type { Params } from '../../case'
import { givenInputs } from '../testing'
import { getOp } from '../registry'

function pooled(id: string, params: Params, x: readonly number[], count: number): number[] {
  const op = getOp(id)
  return Array.from(op.reference(op.params.parse(params), givenInputs(x), 0, count))
}

it('pools signals as worked out by hand', () => {
  const size = { batch: 1, channels: 1, length: 5, kernel: 2 }
  const x = [3, -1, -4, -2, 9]
  expect(pooled('max_pool1d', size, x, 2)).toEqual([3, -2])
  expect(pooled('max_pool1d', { ...size, stride: 1 }, x, 4)).toEqual([3, -1, -2, 9])
  // padding is never the largest, and counts as zero in a mean
  expect(pooled('max_pool1d', { ...size, kernel: 3, stride: 2, padding: 1 }, [-3, -1, -4, -2, -9], 3)).toEqual([-1, -1, -2])
  expect(pooled('avg_pool1d', { ...size, kernel: 2, padding: 1 }, x, 3)).toEqual([1.5, -2.5, 3.5])
})

it('pools images as worked out by hand', () => {
  const x = Array.from({ length: 12 }, (_, i) => i)
  const size = { batch: 1, channels: 1, height: 3, width: 4 }
  expect(pooled('max_pool2d', { ...size, kernel: 2 }, x, 2)).toEqual([5, 7])
  expect(pooled('avg_pool2d', { ...size, kernel: 2, stride: 1 }, x, 6)).toEqual([2.5, 3.5, 4.5, 6.5, 7.5, 8.5])
  expect(pooled('adaptive_avg_pool2d', size, x, 1)).toEqual([5.5])
  // rows 0-1 and 1-2, columns 0-1, 1-2 and 2-3
  expect(pooled('adaptive_max_pool2d', { ...size, outHeight: 2, outWidth: 3 }, x, 6)).toEqual([5, 6, 7, 9, 10, 11])
})

it('counts what windows meet', () => {
  const op = getOp('max_pool2d')
  const cost = (params: Params) => [op.bytes(op.params.parse(params), 'f32'), op.flops(op.params.parse(params))]
  expect(cost({ batch: 2, channels: 3, height: 5, kernel: 2 })).toEqual([6 * 4 * (16 + 4), 6 * 4 * 4])
  expect(cost({ batch: 1, channels: 1, height: 7, kernel: 1, stride: 3 })).toEqual([4 * (9 + 9), 9])
})

it('says what does not fit', () => {
  const message = (params: Params) => getOp('avg_pool1d').params.safeParse({ batch: 1, channels: 1, length: 4, ...params }).error?.issues[0]?.message
  expect(message({ kernel: 3, padding: 2 })).toBe('padding (2) must not exceed half of kernel (3)')
  expect(message({ kernel: 7, padding: 1 })).toBe('no output: a kernel of 7 does not fit 6 elements, padding included')
})

it('a NaN is the largest of every window that it is in', () => {
  expect(pooled('max_pool1d', { batch: 1, channels: 1, length: 5, kernel: 2, stride: 1 }, [3, NaN, -4, -2, 9], 4)).toEqual([NaN, NaN, -2, 9])
})
