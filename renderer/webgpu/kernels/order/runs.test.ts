import { describe, expect, it } from 'vitest'
import { planRuns } from './runs'

describe('rows that are merged by rank', () => {
  it('fit the threads and the memory of a workgroup', () => {
    for (let cols = 33; cols <= 1024; cols++)
      for (const [rows, most] of [[3, 1024], [3, 256], [10_000, 1024]] as const) {
        const { lanes, held, threads, rowsPerGroup } = planRuns(rows, cols, most)
        expect(lanes * held >= cols && lanes * (held - 1) < cols, `${cols}`).toBe(true)
        expect(threads <= most && threads * held <= 1024 && lanes * rowsPerGroup === threads, `${cols}`).toBe(true)
      }
  })
})
