import { describe, expect, it } from 'vitest'
import { lengthening, MAX_CALLS, samplesPerSubmission, SUBMISSION_NS } from './calls'

/** A device whose differences are lost in noise below `needed` calls. */
function device(needed: number, nsPerCall: number) {
  const asked: number[] = []
  const hot = lengthening(
    (count, calls) => {
      asked.push(calls)
      return Promise.resolve(new Float64Array(count).fill(calls < needed ? -1 : nsPerCall))
    },
    () => nsPerCall,
  )
  return { asked, hot }
}

describe('passes whose difference is lost in noise', () => {
  it('are made longer until it shows, and no longer than asked for afterwards', async () => {
    const { asked, hot } = device(50, 100)
    expect([...(await hot(2, 1))]).toEqual([100, 100])
    await hot(2, 1)
    await hot(2, 1000)
    expect(asked).toEqual([1, 4, 16, 64, 64, 1000])
  })

  it('are given up at the most calls, or where they are long already', async () => {
    const short = device(Infinity, 1)
    expect([...(await short.hot(1, 1))]).toEqual([0])
    expect(short.asked.at(-1)).toBe(MAX_CALLS)
    const long = device(Infinity, 1e6)
    await long.hot(1, 1)
    expect(long.asked).toEqual([1, 4, 16, 64])
  })
})

describe('a submission', () => {
  it('has one sample at least, and no more than last its time', () => {
    expect(samplesPerSubmission(100, 1024, SUBMISSION_NS * 10, 3)).toBe(1)
    expect(samplesPerSubmission(100, 1024, SUBMISSION_NS / 10, 3)).toBe(10)
    expect(samplesPerSubmission(100, 1024, 1, 1000)).toBe(20)
  })
})
