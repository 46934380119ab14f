import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import kernel from './kernel'
import { listsOf, planLinked } from './linked'

describe('lists of sources', () => {
  it('cover each row once, by threads of which few have nothing to do', () => {
    const random = createRandom(5)
    for (let i = 0; i < 2000; i++) {
      const dim = 12 + Math.floor(300_000 ** random())
      const perRow = 5000 ** random()
      const { lists, vectors, lanes, kept, parts } = planLinked(dim, perRow)!
      expect(parts * lanes * kept >= vectors && (parts - 1) * lanes * kept < vectors, `${dim}`).toBe(true)
      expect(256 % (lanes * lists) === 0 && kept <= 4, `${dim}`).toBe(true)
      // Sources of a list are few unless the threads of a workgroup are.
      expect(lists === 32 || lists * lanes === 256 || perRow / lists <= 8, `${dim}, ${perRow}`).toBe(true)
    }
  })
  it('are built and read in two dispatches, and emptied by a third where several workgroups read one', () => {
    const steps = (dims: readonly number[]) => kernel.build({ dtype: 'f32', dims, scalars: [] }).steps.map(({ groups }) => groups)
    expect(steps([50_257, 768, 16_384])).toEqual([64, Math.ceil(50_257 / 4)])
    expect(steps([70, 600_001, 60])).toEqual([1, 70 * Math.ceil(600_001 / 1024), 1])
    // Sources of rows that have many are in several lists: here in 32.
    expect(steps([1000, 64, 300_000])).toEqual([Math.ceil(300_000 / 256), 1000])
    // Short rows are added to atomically.
    expect(steps([1_000_000, 4, 300_000]).at(-1)).toBeGreaterThan(1000)
    // Halves cannot be: rows of any length have lists.
    expect([planLinked(11, 0.3), listsOf(11, 0.3), listsOf(1, 100)]).toEqual([undefined, { lists: 1, vectors: 11, lanes: 4, kept: 3, parts: 1 }, { lists: 16, vectors: 1, lanes: 1, kept: 1, parts: 1 }])
  })
})
