import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('hands its inputs on, whatever the time, and allows no error', () => {
  const inputs = [1, -2, 3.5, 4, 5, 6, 7, 8]
  for (const ns of [1000, 10_000_000]) expect([...op.reference({ ns }, givenInputs(inputs), 0, 8)]).toEqual(inputs)
  expect(op.tolerance({ ns: 1000 }, 'f32').relL2).toBeLessThan(2 ** -24)
})

it('says its time where sizes are shown, and passes it to the kernel', () => {
  expect(op.shapeLabel({ ns: 2000 })).toBe('2000 ns')
  expect(op.dims({ ns: 2000 })).toEqual([8, 2000])
})
