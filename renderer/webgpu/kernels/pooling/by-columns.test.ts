import { describe, expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import { planColumns } from './by-columns'

const WINDOWS = { planes: 38_686, height: 13, width: 13, outHeight: 9, outWidth: 9, kernel: 5, stride: 1, padding: 0, signal: false }

describe('pooling by columns', () => {
  it('gives every output to one thread, which reads a bounded number of elements', () => {
    const random = createRandom(11)
    const upTo = (most: number) => Math.ceil(most ** random())
    let planned = 0
    for (let i = 0; i < 4000; i++) {
      const kernel = 3 + upTo(20)
      const of = { ...WINDOWS, planes: upTo(40_000), outHeight: upTo(300), outWidth: upTo(300), kernel, stride: upTo(kernel) }
      const plan = planColumns(of)
      if (!plan) continue
      planned++
      const { outputs, bands } = plan
      const name = JSON.stringify(of)
      expect(outputs * bands >= of.outHeight && outputs * (bands - 1) < of.outHeight, name).toBe(true)
      expect(((outputs - 1) * of.stride + kernel) * kernel, name).toBeLessThanOrEqual(192)
    }
    expect(planned).toBeGreaterThan(100)
  })

  it('takes whole columns of small planes, and fewer outputs where threads are few', () => {
    expect(planColumns(WINDOWS)).toEqual({ outputs: 9, bands: 1 })
    expect(planColumns({ ...WINDOWS, planes: 3000 })).toEqual({ outputs: 3, bands: 3 })
  })

  it('leaves windows beside each other, large ones and signals to others', () => {
    expect([planColumns({ ...WINDOWS, stride: 5 }), planColumns({ ...WINDOWS, kernel: 20 }), planColumns({ ...WINDOWS, signal: true })]).toEqual([undefined, undefined, undefined])
  })
})
