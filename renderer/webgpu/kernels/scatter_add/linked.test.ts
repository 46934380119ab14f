import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import kernel from './kernel'
import { planLinked } from './linked'

describe('lists of sources', () => {
  it('cover each row once, by threads of which few have nothing to do', () => {
    const random = createRandom(5)
    for (let i = 0; i < 2000; i++) {
      const dim = 12 + Math.floor(300_000 ** random())
      const { vectors, lanes, kept, parts } = planLinked(dim)!
      expect(parts * lanes * kept >= vectors && (parts - 1) * lanes * kept < vectors, `${dim}`).toBe(true)
      expect(256 % lanes === 0 && kept <= 4, `${dim}`).toBe(true)
    }
  })
  it('are built and read in two dispatches, and emptied by a third where several workgroups read one', () => {
    const steps = (dims: readonly number[]) => kernel.build({ dtype: 'f32', dims, scalars: [] }).steps.map(({ groups }) => groups)
    expect(steps([50_257, 768, 16_384])).toEqual([64, Math.ceil(50_257 / 4)])
    expect(steps([70, 200_001, 41])).toEqual([1, 70 * Math.ceil(200_001 / 1024), 1])
    // Short rows, and rows of so many sources that each would wait for another, are added to atomically.
    expect([steps([1_000_000, 4, 300_000]), steps([1000, 64, 300_000])].every((groups) => groups.at(-1)! > 1000)).toBe(true)
  })
})
