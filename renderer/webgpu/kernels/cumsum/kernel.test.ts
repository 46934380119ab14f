import { describe, expect, it } from 'vitest'
import { planShort } from './kernel'

describe('rows that a workgroup sums up at once', () => {
  it('have threads and runs for every vector, and none that others could take', () => {
    for (let vectors = 1; vectors <= 1024; vectors++) {
      const { lanes, runs, rowsPerGroup } = planShort(vectors)!
      expect([lanes * runs >= vectors, lanes * runs * rowsPerGroup, runs === 1 || (lanes * runs) / 2 < vectors], String(vectors)).toEqual([true, 1024, true])
    }
    expect(planShort(512)).toEqual({ lanes: 256, runs: 2, rowsPerGroup: 2 })
    expect(planShort(1025)).toBeUndefined()
  })
})
