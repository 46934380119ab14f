import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planOwnFilters } from './own-filters'

describe('convolutions whose threads have a filter each', () => {
  it('cover all images once, some terms at a time', () => {
    const random = createRandom(5)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const [groups, filters, batch, outputs, terms] = [upTo(700), upTo(3000), upTo(100_000), upTo(12), upTo(24)] as const
      const plan = planOwnFilters(groups, filters, batch, outputs, terms)
      if (!plan) continue
      planned++
      const { images, together, beside, runs } = plan
      const name = `${groups} ${filters} ${batch} ${outputs} ${terms}`
      expect(beside * 256 >= groups * filters * outputs, name).toBe(true)
      expect(runs * images >= batch && (runs - 1) * images < batch, name).toBe(true)
      expect(together >= 1 && together <= images && (together === 1 || together * terms <= 32), name).toBe(true)
    }
    expect(planned).toBeGreaterThan(300)
  })

  it('are those of short sums and tiny planes', () => {
    expect(planOwnFilters(683, 241, 9, 1, 6)).toEqual({ images: 9, together: 5, beside: 643, runs: 1 })
    expect([planOwnFilters(1, 8, 100, 1, 6), planOwnFilters(1, 64, 100, 40, 6), planOwnFilters(1, 64, 100, 1, 100)]).toEqual([undefined, undefined, undefined])
    const { steps } = KERNELS.get('conv1d')!.build({ dtype: 'f32', scalars: [], dims: [9, 2049, 164_603, 683, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 2, 2, 0, 1] })
    expect(steps.map(({ groups }) => groups)).toEqual([643])
  })
})
