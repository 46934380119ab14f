import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planGroups } from './group-norm'

const LARGE = { threads: 1024, workgroupBytes: 49_152 }

describe('groups that a workgroup keeps', () => {
  it('are read once, by threads whose registers have room for them, or else in part a second time', () => {
    const random = createRandom(7)
    for (let i = 0; i < 5000; i++) {
      const [rows, length] = [1 + Math.floor(5000 ** random()), 1 + Math.floor(300_000 ** random())]
      const plan = planGroups(rows, length, 8, random() < 0.3 ? {} : LARGE)
      if (!plan) continue
      const { vectors, lanes, kept, again } = plan
      expect([vectors * 4, (kept + again) * lanes >= vectors, (kept + again - 1) * lanes < vectors], `${rows} ${length}`).toEqual([length, true, true])
      expect(kept * 4 * lanes, `${rows} ${length}`).toBeLessThanOrEqual(2 ** 16)
    }
  })

  it('are many and long, or many and longer than registers', () => {
    expect(planGroups(1024, 25_088, 8, LARGE)).toMatchObject({ lanes: 256, kept: 25, again: 0 })
    expect(planGroups(1024, 50_176, 4, LARGE)).toMatchObject({ lanes: 512, kept: 25, again: 0 })
    expect(planGroups(256, 100_352, 32, LARGE)).toMatchObject({ lanes: 1024, kept: 10, again: 15 })
    expect([planGroups(100, 25_088, 8, LARGE), planGroups(5000, 4096, 8, LARGE), planGroups(16, 2 ** 21, 8, LARGE), planGroups(1024, 50_176, 4, {}), planGroups(500, 27_675, 27, LARGE)]).toEqual(Array(5).fill(undefined))
  })
})
