import { expect, it } from 'vitest'
import { tensorsOf } from '../define'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

it('matches a result worked out by hand', () => {
  // [1 2; 3 4] by the transpose of [5 6; 7 8], rows times 2 and 3, columns times 10 and 100
  const read = givenInputs([1, 2, 3, 4], [5, 6, 7, 8], [2, 3], [10, 100])
  expect(Array.from(op.reference({ m: 2, n: 2, k: 2 }, read, 0, 4))).toEqual([17 * 20, 23 * 200, 39 * 30, 53 * 300])
  expect(Array.from(op.reference({ m: 2, n: 2, k: 2 }, read, 1, 2))).toEqual([23 * 200, 39 * 30])
})

it('takes int8 over its symmetric range and gives bf16', () => {
  const p = { m: 64, n: 64, k: 64 }
  const a = generatedInputs(op, p, 'i8', 3)(0, 0, 4096)
  expect([Math.min(...a), Math.max(...a)]).toEqual([-127, 127])
  expect(tensorsOf(op, p, 'i8').map(({ storage }) => storage)).toEqual(['i8', 'i8', 'f32', 'f32', 'bf16'])
  expect(op.bytes(p, 'f8e4m3')).toBe(2 * 4096 + 2 * 64 * 4 + 2 * 4096)
})

it('refuses sums that leave i32', () => {
  expect(op.params.safeParse({ m: 1, n: 1, k: 133145 }).error!.issues[0]!.message).toContain('k (133145) must not exceed 133144')
  expect(op.params.safeParse({ m: 1, n: 1, k: 133144 }).success).toBe(true)
})
