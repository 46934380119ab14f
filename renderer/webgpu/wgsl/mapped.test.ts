import { describe, expect, it } from 'vitest'
import { THREADS } from './header'
import { mapped, numbersOf } from './mapped'

describe('numbers of a thread', () => {
  it('are one where they are few or written in pairs, and several a workgroup apart where they are many', () => {
    for (const alone of [numbersOf(2 ** 20 - 1, true), numbersOf(2 ** 24, false)]) {
      expect(alone.each((u) => `${u}`)).toBe('0')
      expect([alone.place, alone.at(0), alone.store(0, 'out', '1.0')]).toEqual(['', 'i', '  out[i] = 1.0;'])
    }
    for (const count of [2 ** 20, 2 ** 20 + 1, 2 ** 22 + 1023]) {
      const { threads, each, place, store } = numbersOf(count, true)
      expect(each((u) => `${u}`).split('\n')).toEqual(['0', '1', '2', '3'])
      expect(4 * threads >= count && 4 * threads - count < 4 * THREADS && threads % THREADS === 0).toBe(true)
      // Workgroup g has the numbers from 1024 g on, thread t of it every 256th from t on.
      expect(place).toContain(`let i_3 = (i / ${THREADS}u * 4u + 3u) * ${THREADS}u + i % ${THREADS}u;`)
      expect(place).toContain(`let at_3 = min(i_3, ${count}u - 1u);`)
      expect(store(3, 'out', 'x')).toBe(`  if (i_3 < ${count}u) { out[i_3] = x; }`)
    }
  })
  it('may be counted by a number of the step', () => {
    const { place, threads } = numbersOf(2 ** 21, true, 'dim(2u)')
    expect(place).toContain('min(i_0, dim(2u) - 1u)')
    expect(mapped({ tensors: [], body: place, dims: [1, 2 ** 21] }, 'f32', threads).steps[0]).toMatchObject({ groups: 2 ** 11, dims: [threads, 1, 2 ** 21] })
  })
})
