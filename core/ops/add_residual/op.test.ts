import { expect, it } from 'vitest'
import { givenInputs } from '../testing'
import op from './op'

it('adds a row to every row, and the other tensor', () => {
  const p = op.params.parse({ rows: 2, cols: 3 })
  const read = givenInputs([1, 2, 3, 4, 5, 6], [10, 20, 30], [100, 200, 300, 400, 500, 600])
  expect([...op.reference(p, read, 0, 6)]).toEqual([111, 222, 333, 414, 525, 636])
  expect([...op.reference(p, read, 2, 2)]).toEqual([333, 414])
  expect([op.flops(p), op.bytes(p, 'f16'), op.dims(p)]).toEqual([12, 2 * 21, [6, 3]])
})
