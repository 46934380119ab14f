import { describe, expect, it } from 'vitest'
import { CaseError } from '@core/backend'
import { setsNeeded } from './memory'
import { createRing } from './bind'

const MiB = 2 ** 20
const room = { cacheBytes: 128 * MiB, memoryBytes: 8192 * MiB }

describe('sets of rotated buffers', () => {
  it('hold twice the cache together', () => {
    expect(setsNeeded(12 * MiB, room)).toBe(22)
    expect(setsNeeded(MiB, room)).toBe(256)
  })

  it('are two at least, however large one is', () => {
    expect(setsNeeded(300 * MiB, room)).toBe(2)
    expect(setsNeeded(1024 * MiB, room)).toBe(2)
  })

  it('are refused where a cache could still answer, with the size that would do', () => {
    expect(() => setsNeeded(MiB - 16, room)).toThrow(CaseError)
    expect(() => setsNeeded(4096, room)).toThrow(/65536 sets of 4096 bytes.*at least 1048576 bytes/)
  })

  it('are refused beyond a quarter of the memory', () => {
    expect(() => setsNeeded(1024 * MiB + 16, room)).toThrow(/a quarter of the 8589934592 bytes/)
  })
})

describe('the ring of sets', () => {
  it('takes turns and remembers what was used since it was told to forget', () => {
    const ring = createRing(3)
    expect([ring.next(), ring.next()]).toEqual([0, 1])
    expect(ring.used().sort()).toEqual([0, 1])
    ring.forget()
    expect([ring.next(), ring.last]).toEqual([2, 2])
    expect(ring.used()).toEqual([2])
    for (let call = 0; call < 7; call++) ring.next()
    expect(ring.last).toBe(0)
    expect(ring.used().sort()).toEqual([0, 1, 2])
  })

  it('has one set in use before any call, so that what was marked can be counted', () => {
    const ring = createRing(4)
    expect(ring.used()).toEqual([0])
    ring.next()
    ring.next()
    ring.forget()
    expect(ring.used()).toEqual([1])
  })
})
