import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { KERNELS } from '../registry'
import { planNarrow } from './narrow'

const WINDOWS = { planes: 35, height: 42_965, width: 5, outHeight: 21_483, outWidth: 3, kernel: 5, stride: 2, padding: 2, signal: false }

describe('pooling of narrow planes', () => {
  it('gives every row of outputs to one workgroup, whose rows fit its memory', () => {
    const random = createRandom(12)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const kernel = 3 + upTo(12)
      const of = { ...WINDOWS, planes: upTo(4000), outHeight: upTo(50_000), width: upTo(30), outWidth: upTo(10), kernel, stride: upTo(kernel) }
      const plan = planNarrow(of)
      if (!plan) continue
      planned++
      const { rows, bands } = plan
      const name = JSON.stringify(of)
      expect(rows * bands >= of.outHeight && rows * (bands - 1) < of.outHeight, name).toBe(true)
      expect(4 * ((rows - 1) * of.stride + kernel) * (of.width + of.outWidth), name).toBeLessThanOrEqual(16_384)
    }
    expect(planned).toBeGreaterThan(100)
  })

  it('takes windows that overlap in many rows', () => {
    expect(planNarrow(WINDOWS)).toEqual({ rows: 189, bands: 114 })
    for (const other of [{ stride: 5 }, { width: 40 }, { outHeight: 30 }, { planes: 1, outHeight: 2000 }, { signal: true }]) expect(planNarrow({ ...WINDOWS, ...other })).toBeUndefined()
    expect(KERNELS.get('max_pool2d')!.build({ dtype: 'f32', scalars: [], dims: [35, 42_965, 5, 21_483, 3, 5, 2, 2] }).steps.map(({ groups }) => groups)).toEqual([35 * 114])
  })
})

describe('windows that do not overlap', () => {
  const build = (dims: readonly number[]) => KERNELS.get('max_pool2d')!.build({ dtype: 'f32', scalars: [], dims }).steps[0]!
  it('are read at once by a thread, or shared by several where few of them are large', () => {
    // Of few windows eight or 32 threads beside each other have the columns of one, and two rows of them its rows.
    expect([build([56, 43, 17, 6, 2, 7, 7, 0]), build([35, 200, 200, 10, 10, 20, 20, 0])].map(({ groups }) => groups)).toEqual([672 / 16, 3500 / 4])
    expect(build([8192, 40, 40, 8, 8, 5, 5, 0])).toMatchObject({ groups: 2048 })
    expect(build([3500, 200, 200, 10, 10, 20, 20, 0]).groups).toBe(Math.ceil(350_000 / 256))
  })
})
