import { expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planBounds } from './bounded'

it('bounds the first of a row by at least twice as many groups, which a workgroup keeps', () => {
  const random = createRandom(8)
  const upTo = (most: number) => Math.ceil(most ** random())
  let planned = 0
  for (let i = 0; i < 3000; i++) {
    const [rows, parts, size, first] = [upTo(300), upTo(1056), 256 * upTo(200), upTo(4000)] as const
    const plan = planBounds(rows, parts, size, first)
    if (!plan) continue
    planned++
    const { of, groups, bytes } = plan
    const name = `${rows} ${parts} ${size} ${first}`
    expect(256 % of === 0 && groups * of === parts * 256 && groups <= 16_896 && groups >= 2 * first, name).toBe(true)
    expect(bytes, name).toBe(4 * rows * (parts * 256 + groups + 1))
  }
  expect(planned).toBeGreaterThan(300)
})
