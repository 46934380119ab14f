import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planGroups } from './group-norm'

const LARGE = { threads: 1024, workgroupBytes: 49_152, subgroups: 32 }

describe('groups that a workgroup keeps', () => {
  it('are read once, by threads whose registers have room for them, or else in part a second time', () => {
    const random = createRandom(7)
    for (let i = 0; i < 5000; i++) {
      const [rows, length] = [1 + Math.floor(5000 ** random()), 1 + Math.floor(300_000 ** random())]
      const plan = planGroups(rows, length, 8, random() < 0.3 ? {} : LARGE)
      if (!plan) continue
      const { width, vectors, lanes, kept, again } = plan
      expect([vectors * width, (kept + again) * lanes >= vectors, (kept + again - 1) * lanes < vectors], `${rows} ${length}`).toEqual([length, true, true])
      expect(kept * width * lanes, `${rows} ${length}`).toBeLessThanOrEqual(2 ** 16)
      // Threads are combined by whole subgroups, or by halves.
      expect(lanes % 32 === 0 || Number.isInteger(Math.log2(lanes)), `${lanes}`).toBe(true)
    }
  })

  it('are many and long, or many and longer than registers', () => {
    expect(planGroups(1024, 14_792, 8, LARGE)).toMatchObject({ lanes: 256, kept: 15, again: 0 })
    expect(planGroups(1024, 25_088, 8, { ...LARGE, subgroups: 4 })).toMatchObject({ lanes: 256, kept: 25, again: 0 })
    expect(planGroups(1024, 50_176, 4, LARGE)).toMatchObject({ lanes: 512, kept: 25, again: 0 })
    expect(planGroups(256, 100_352, 32, LARGE)).toMatchObject({ lanes: 1024, kept: 10, again: 15 })
    expect([planGroups(100, 25_088, 8, LARGE), planGroups(5000, 4096, 8, LARGE), planGroups(16, 2 ** 21, 8, LARGE), planGroups(1024, 50_176, 4, {}), planGroups(256, 32_768, 8, LARGE)]).toEqual(Array(5).fill(undefined))
  })

  it('have as many threads as leave few of them without a vector, in whole subgroups', () => {
    expect(planGroups(1024, 25_088, 8, LARGE)).toMatchObject({ lanes: 448, kept: 14, around: 'value' })
    expect(planGroups(512, 20_480, 20, LARGE)).toMatchObject({ lanes: 320, kept: 16 })
    for (const subgroups of [32, 64]) for (let vectors = 4097; vectors <= 7168; vectors += 7) {
      const { lanes, kept } = planGroups(1000, 4 * vectors, 8, { ...LARGE, subgroups })!
      expect([lanes % subgroups, kept <= 16, lanes <= 512, kept * lanes - vectors < lanes], `${vectors}`).toEqual([0, true, true, true])
    }
  })

  it('beyond what row operations keep, are kept by the largest workgroups where groups are few', () => {
    expect(planGroups(256, 40_960, 10, LARGE)).toMatchObject({ lanes: 1024, kept: 10, again: 0 })
    expect(planGroups(512, 40_960, 10, LARGE)).toMatchObject({ lanes: 1024, kept: 10, again: 0 })
  })

  it('of no whole vectors are kept by single elements', () => {
    expect(planGroups(2400, 18_605, 5, LARGE)).toMatchObject({ width: 1, lanes: 256, kept: 73 })
    expect(planGroups(500, 27_675, 27, LARGE)).toMatchObject({ width: 1, lanes: 512, kept: 55 })
    expect([planGroups(100, 27_675, 27, LARGE), planGroups(1500, 3001, 1, LARGE), planGroups(500, 28_675, 27, LARGE)]).toEqual(Array(3).fill(undefined))
  })
})
