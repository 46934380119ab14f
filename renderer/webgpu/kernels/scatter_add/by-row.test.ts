import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planByRow } from './by-row'

const LARGE = { threads: 1024, workgroupBytes: 49_152 }

describe('sources that workgroups order by row', () => {
  it('are added up once, in sums that a workgroup has', () => {
    const random = createRandom(13)
    for (let i = 0; i < 5000; i++) {
      const [rows, dim, indices] = [1 + Math.floor(20_000 ** random()), 2 + Math.floor(3000 ** random()), 1 + Math.floor(40_000_000 ** random())]
      const plan = planByRow(rows, dim, indices, random() < 0.5 ? {} : LARGE)
      if (!plan) continue
      const { threads, ordered, width, vectors, wide, slabs, shares, kept, each, parts, ranges, ofRange, read } = plan
      const covers = (all: number, size: number, count: number) => size * count >= all && size * (count - 1) < all
      expect([vectors * width === dim, covers(vectors, wide, slabs), covers(indices, each, parts), covers(ofRange * wide * shares, threads, kept), covers(rows, ofRange, ranges)], `${rows} ${dim} ${indices}`).toEqual([true, true, true, true, true])
      // Of what is read at once, those of a range have room.
      expect(read, `${rows} ${dim} ${indices}`).toBeLessThanOrEqual(Math.max(1, 0.9 * ranges) * ordered)
      expect(kept * (threads > 256 ? width : 1), `${rows} ${dim}`).toBeLessThanOrEqual(threads > 256 ? 20 : 4)
    }
  })

  it('are those of some rows of more than one element', () => {
    expect(planByRow(200, 16, 1_000_000)).toMatchObject({ width: 4, wide: 4, slabs: 1, shares: 1, kept: 4, each: 2048 })
    expect(planByRow(40, 2, 1_000_000)).toMatchObject({ width: 1, wide: 2, shares: 2 })
    expect(planByRow(2000, 9, 3_000_000, LARGE)).toMatchObject({ threads: 1024, ordered: 8192, kept: 18, parts: 123 })
    expect(planByRow(9679, 2, 3_039_649, LARGE)).toMatchObject({ width: 2, ordered: 8192, ranges: 5, ofRange: 1936, kept: 2, parts: 25 })
    // Of few sources fewer at once.
    expect(planByRow(40, 255, 8192)).toMatchObject({ ordered: 256, slabs: 11, parts: 32 })
    expect([planByRow(2000, 9, 3_000_000), planByRow(2000, 11, 3_000_000, LARGE), planByRow(2000, 9, 500_000, LARGE)]).toEqual([undefined, undefined, undefined])
    expect([planByRow(513, 16, 1_000_000), planByRow(100, 1, 1_000_000)]).toEqual([undefined, undefined])
  })
})
