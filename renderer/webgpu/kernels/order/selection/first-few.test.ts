import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../../registry'
import { planFirstFew } from './first-few'

const topk = (rows: number, cols: number, k: number) => KERNELS.get('topk')!.build({ dtype: 'f32', dims: [rows, cols, k], scalars: [] })

describe('the first few of a row', () => {
  it('are found in one dispatch, whose last workgroup of a row joins those of the others', () => {
    const { steps, scratchBytes } = topk(1, 500_001, 1)
    expect([steps.map(({ groups }) => groups), scratchBytes]).toEqual([[244], [4 * (2 * 244 + 1)]])
    expect(topk(3, 70_000, 4)).toMatchObject({ scratchBytes: [4 * (2 * 3 * 34 * 4 + 3)], steps: [{ groups: 3 * 34 }] })
    // Short rows share workgroups; many long ones have one each.
    expect(topk(64, 64, 2)).toMatchObject({ scratchBytes: [], steps: [{ groups: 4 }] })
    expect(topk(8192, 8192, 2)).toMatchObject({ scratchBytes: [], steps: [{ groups: 8192 }] })
    // Every thread would keep too many of more; of two where one workgroup selects otherwise.
    expect(topk(1, 500_001, 9).steps).toHaveLength(2)
    expect([2, 3].map((k) => topk(12, 3001, k).steps[0]!.wgsl.includes('reduce_next'))).toEqual([true, false])
  })
  it('come from all elements of a row, of which every part has some', () => {
    const random = createRandom(5)
    for (let i = 0; i < 3000; i++) {
      const [rows, cols] = [1 + Math.floor(2000 ** random()), 33 + Math.floor(4_000_000 ** random())]
      const { lanes, parts } = planFirstFew(rows, cols)
      const [, vectors = 0, used = 0, size = 0] = topk(rows, cols, 2).steps[0]!.dims
      const name = `${rows} ${cols}`
      expect(Math.log2(lanes) % 1, name).toBe(0)
      if (parts > 1) expect(used * size >= vectors && (used - 1) * size < vectors && lanes === 256, name).toBe(true)
    }
  })
})
