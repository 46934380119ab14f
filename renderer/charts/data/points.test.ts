import { expect, it } from 'vitest'
import { remembered } from './points'

it('makes a thing once for a list and key, and anew for another list', () => {
  let made = 0
  const make = () => ++made
  const [a, b] = [[1], [1]]
  expect([remembered(a, 'x', make), remembered(a, 'x', make), remembered(a, 'y', make), remembered(b, 'x', make)]).toEqual([1, 1, 2, 3])
})
