import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planOwnPlanes } from './own-planes'

const shapeOf = (filters: number, planes: number, outputs: readonly [number, number, number], kernel: readonly [number, number, number]) => ({ filters, planes, outputs, kernel, stride: 1, dilation: 1, paddings: [0, 1, 1] })

describe('convolutions of each channel', () => {
  it('have rows of outputs of equal parts, fewer where workgroups are few', () => {
    const random = createRandom(11)
    const upTo = (most: number) => Math.ceil(most ** random())
    for (let i = 0; i < 3000; i++) {
      const outputs = [upTo(20), upTo(300), upTo(300)] as const
      const plan = planOwnPlanes(shapeOf(upTo(6), upTo(5000), outputs, [upTo(7), upTo(7), upTo(7)]))
      if (!plan) continue
      expect(plan.rows * plan.below >= outputs[1] && plan.rows * (plan.below - 1) < outputs[1] && plan.rows <= 8, outputs.join('x')).toBe(true)
    }
    const rows = (...of: Parameters<typeof shapeOf>) => planOwnPlanes(shapeOf(...of))?.rows
    expect([rows(1, 2048, [1, 56, 56], [1, 3, 3]), rows(1, 2048, [1, 28, 28], [1, 3, 3]), rows(2, 512, [1, 57, 57], [1, 5, 5]), rows(1, 64, [1, 56, 56], [1, 3, 3])]).toEqual([8, 7, 8, 3])
  })
  it('are those of up to four filters, several rows and several taps', () => {
    const isPlanned = (...of: Parameters<typeof shapeOf>) => planOwnPlanes(shapeOf(...of)) !== undefined
    expect([isPlanned(5, 2048, [1, 56, 56], [1, 3, 3]), isPlanned(1, 2048, [1, 2, 3000], [1, 3, 3]), isPlanned(1, 2048, [1, 56, 56], [1, 1, 1]), isPlanned(1, 8, [1, 20, 20], [1, 3, 3])]).toEqual([false, false, false, false])
  })
  it('read a row of x once for all outputs that it meets', () => {
    const { steps } = KERNELS.get('conv2d')!.build({ dtype: 'f32', dims: [32, 64, 64, 64, 1, 1, 1, 1, 0, 1, 56, 3, 1, 56, 56, 3, 1, 56], scalars: [] })
    expect(steps).toHaveLength(1)
    expect([steps[0]!.groups, steps[0]!.wgsl.split('f32(x[').length - 1, steps[0]!.wgsl.split('fma(').length - 1]).toEqual([3136, 30, 72])
  })
})
