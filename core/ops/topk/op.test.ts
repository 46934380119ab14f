import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

const p = { rows: 2, cols: 4, k: 2 }
const read = givenInputs([5, 9, 9, 9, 1, 2, 3, 4])

it('gives the largest first, equal ones by first index', () => {
  expect(Array.from(op.reference(p, read, 0, 4))).toEqual([9, 9, 4, 3])
  expect(Array.from(op.reference(p, read, 0, 4, 1))).toEqual([1, 2, 3, 2])
})

it('accepts any order of equal values, each once, and nothing else', () => {
  const near = (...got: number[]) => Array.from(op.reference(p, read, 0, 4, 1, Int32Array.from(got)))
  expect(near(3, 1, 3, 2)).toEqual([3, 1, 3, 2])
  expect(near(3, 3, 3, 2)).not.toEqual([3, 3, 3, 2])
  expect(near(1, 0, 2, 3)).toEqual([1, 2, 3, 2])
  expect(near(1, 77, -1, 2)).toEqual([1, 2, 3, 2])
})

it('refuses more than a row has', () => expect(op.params.safeParse({ rows: 1, cols: 3 }).error!.issues[0]!.message).toBe('k (8) must not exceed cols (3)'))
