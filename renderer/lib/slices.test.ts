import { describe, expect, it } from 'vitest'
import { inSlices } from './slices'

function* steps(count: number): Generator<void, string, void> {
  for (let i = 0; i < count; i++) yield
  return 'done'
}

describe('work in slices', () => {
  it('lets others have a turn whenever half a frame has gone by', async () => {
    let [ms, pauses] = [0, 0]
    // A step takes three ms, so that three of them are a slice.
    expect(await inSlices(steps(10), { now: () => (ms += 3), pause: async () => void pauses++ })).toBe('done')
    expect(pauses).toBe(3)
  })

  it('is given up between two slices once nobody wants it', async () => {
    let wanted = true
    expect(await inSlices(steps(10), { now: () => 0, pause: async () => expect.fail('one slice is enough') })).toBe('done')
    const work = steps(10)
    let ms = 0
    expect(await inSlices(work, { wanted: () => wanted, now: () => (ms += 100), pause: async () => void (wanted = false) })).toBeUndefined()
    expect(work.next().done).toBe(false)
  })
})
