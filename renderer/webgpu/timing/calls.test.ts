import { describe, expect, it } from 'vitest'
import { lengthening, MAX_CALLS, samplesPerSubmission, SUBMISSION_NS } from './calls'

/** What a pass costs beside its calls, in ns. */
const PASS_NS = 500

/** A device whose differences are lost in noise below `needed` calls: a pass of twice as many takes no longer. */
function device(needed: number, nsPerCall: number) {
  const asked: number[] = []
  const timer = lengthening(
    (count, calls) => {
      asked.push(calls)
      const onceNs = PASS_NS + calls * nsPerCall
      const twiceNs = calls < needed ? onceNs - 1 : PASS_NS + 2 * calls * nsPerCall
      return Promise.resolve(new Array(count).fill({ onceNs, twiceNs }))
    },
    () => nsPerCall,
  )
  return { asked, ...timer }
}

describe('passes whose difference is lost in noise', () => {
  it('are made longer until it shows, and no longer than asked for afterwards; samples say how many calls they have', async () => {
    const { asked, hot, notes } = device(50, 100)
    expect(await hot(2, 1)).toEqual({ samplesNs: Float64Array.of(100, 100), inner: 64 })
    expect((await hot(2, 1)).inner).toBe(64)
    expect((await hot(2, 1000)).inner).toBe(1000)
    expect(asked).toEqual([1, 4, 16, 64, 64, 1000])
    expect(notes()).toEqual([])
  })

  it('are timed as a whole at the most calls, or where they are long already, and that is noted', async () => {
    const short = device(Infinity, 1)
    const { samplesNs, inner } = await short.hot(1, 1)
    expect(inner).toBe(MAX_CALLS)
    expect(samplesNs[0]).toBeCloseTo(2 / 3, 1)
    const long = device(Infinity, 1e6)
    await long.hot(1, 1)
    expect(long.asked).toEqual([1, 4, 16, 64])
    expect(long.notes()).toEqual([expect.stringContaining('whole passes')])
  })

  it('are timed as a whole from then on, though a difference shows now and then', async () => {
    let isNoisy = true
    const { hot } = lengthening((count) => Promise.resolve(new Array(count).fill({ onceNs: 30e6, twiceNs: isNoisy ? 30e6 : 60e6 })), () => 30e6)
    expect((await hot(1, 1)).samplesNs).toEqual(Float64Array.of(20e6))
    isNoisy = false
    expect((await hot(1, 1)).samplesNs).toEqual(Float64Array.of(30e6))
  })

  it('count at most as many calls as a pass takes, whatever was asked for', async () => {
    expect((await device(1, 1).hot(1, 1 << 20)).inner).toBe(MAX_CALLS)
  })
})

describe('a submission', () => {
  it('has one sample at least, and no more than last its time', () => {
    expect(samplesPerSubmission(100, 1024, SUBMISSION_NS * 10, 3)).toBe(1)
    expect(samplesPerSubmission(100, 1024, SUBMISSION_NS / 10, 3)).toBe(10)
    expect(samplesPerSubmission(100, 1024, 1, 1000)).toBe(20)
  })
})
