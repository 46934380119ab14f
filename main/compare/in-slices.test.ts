import { expect, test } from 'vitest'
import type { Progress, Steps } from '@core/compare'
import { CancelledError, inSlices } from './in-slices'

let clock = 0
let closed = false
/** Work of `total` steps that take 5 ms each. */
function* work(total: number): Steps<string> {
  closed = false
  try {
    for (let done = 0; done < total; done++) {
      clock += 5
      yield { done, total }
    }
    return 'made'
  } finally {
    closed = true
  }
}

test('others have their turn after every slice, and hear how far it is', async () => {
  const told: Progress[] = []
  let pauses = 0
  const made = await inSlices(work(9), { sliceMs: 12, now: () => clock, onProgress: (progress) => told.push(progress), pause: () => Promise.resolve(void pauses++) })
  expect(made).toBe('made')
  expect(told).toEqual([{ done: 2, total: 9 }, { done: 5, total: 9 }, { done: 8, total: 9 }])
  expect(pauses).toBe(3)
})

test('work that is given up ends at the next pause and cleans up', async () => {
  const stop = new AbortController()
  let slices = 0
  const made = inSlices(work(1000), { now: () => clock, signal: stop.signal, onProgress: () => ++slices === 2 && stop.abort() })
  await expect(made).rejects.toThrow(CancelledError)
  expect(slices).toBe(2)
  expect(closed).toBe(true)
})
