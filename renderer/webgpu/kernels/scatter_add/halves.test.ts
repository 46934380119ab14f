import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'

describe('scatter_add of halves', () => {
  it('takes every plan, none of which adds floats in an order that depends on a race', () => {
    const random = createRandom(11)
    const seen = new Set<string>()
    for (let i = 0; i < 3000; i++) {
      const dims = [Math.ceil(300_000 ** random()), Math.ceil(200_000 ** random()), Math.ceil(10_000_000 ** random())]
      const { steps } = KERNELS.get('scatter_add')!.build({ dtype: 'f16', dims, scalars: [], threads: 256 })
      const text = steps.map(({ wgsl }) => wgsl).join('\n')
      expect(text, String(dims)).not.toContain('atomicCompareExchangeWeak')
      // Lists, and cells that many threads add to, have exact sums.
      expect(/heads\[head\]|atomicAdd\(&cells/.test(text), String(dims)).toBe(text.includes('add_exactly(&'))
      seen.add(/heads\[head\]/.test(text) ? `${text.includes('for (var list') ? 'several lists' : 'a list'} of ${text.includes('vec4<f16>') ? 'vectors' : 'halves'}` : /atomicAdd\(&cells/.test(text) ? `exact cells of ${text.includes('to_0') ? 'a range' : 'all rows'}` : /cells\[to_0\] \+=/.test(text) ? 'own columns' : /at_0 == row/.test(text) ? 'searched' : 'registers')
    }
    expect([...seen].sort()).toEqual(['a list of halves', 'a list of vectors', 'exact cells of a range', 'exact cells of all rows', 'own columns', 'registers', 'searched', 'several lists of halves', 'several lists of vectors'])
  })
})
