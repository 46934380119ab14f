import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planLongNormBackward } from './long-norm-backward'

describe('gradients of a norm of few long rows', () => {
  it('take two steps, whose workgroups have every vector once', () => {
    const random = createRandom(9)
    for (let i = 0; i < 2000; i++) {
      const [tokens, length] = [1 + Math.floor(20 * random()), 1 + Math.floor(5_000_000 ** random())]
      const plan = planLongNormBackward(tokens, length)
      if (!plan) continue
      const { width, vectors, parts, each, slabs } = plan
      expect([vectors * width, 256 * parts <= vectors + 255, 256 * each * slabs >= vectors, 256 * each * (slabs - 1) < vectors], `${tokens} ${length}`).toEqual([length, true, true, true])
    }
    for (const op of ['rms_norm_backward', 'layer_norm_backward']) {
      const steps = (tokens: number, length: number) => KERNELS.get(op)!.build({ dtype: 'f32', dims: [tokens, length], scalars: [], subgroups: 32 }).steps.map(({ groups }) => groups)
      expect(steps(2, 32_768)).toEqual([32, 64])
      expect([steps(2, 8192).length, steps(16, 12_000).length, steps(3, 16_384).length, steps(8, 16_384).length]).toEqual([1, 1, 2, 2])
      expect(steps(17, 262_144).length).toBeGreaterThan(2)
    }
  })
})
