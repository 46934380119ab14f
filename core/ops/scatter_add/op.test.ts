import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('adds every source to the row its index names', () => {
  const read = givenInputs([100, 200, 300, 400, 500, 600], [2, 0, 2], [1, 2, 3, 4, 5, 6])
  expect(Array.from(op.reference({ rows: 3, dim: 2, indices: 3 }, read, 0, 6))).toEqual([103, 204, 300, 400, 506, 608])
})

it('costs one add per source element', () => expect([op.flops({ rows: 3, dim: 2, indices: 5 }), op.bytes({ rows: 3, dim: 2, indices: 5 }, 'f16')]).toEqual([10, 2 * (6 + 10 + 6) + 20]))
