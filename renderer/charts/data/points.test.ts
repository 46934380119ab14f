import { describe, expect, it } from 'vitest'
import { blockOf } from '@core/session/rows'
import { testCase, testResult } from '@core/testing'
import { ResultRows } from '../../stores/rows/result-rows'
import { pointsOf, remembered } from './points'
import { takePoints } from './take-points'

it('makes a thing once for a list and key, and anew for another list', () => {
  let made = 0
  const make = () => ++made
  const [a, b] = [[1], [1]]
  expect([remembered(a, 'x', make), remembered(a, 'x', make), remembered(a, 'y', make), remembered(b, 'x', make)]).toEqual([1, 1, 2, 3])
})

describe('points of a source', () => {
  const block = (first: number, count: number) => blockOf(Array.from({ length: count }, (_, i) => testResult({ id: `r${first + i}`, case: testCase({ params: { n: 64 + ((first + i) % 7) } }) })), first)
  const ids = (rows: ResultRows) => pointsOf(rows).map(({ id }) => id)

  it('are the same list until there are more rows, which come after those before', () => {
    const rows = new ResultRows()
    expect(pointsOf(rows)).toBe(pointsOf(rows))
    rows.append(block(0, 3))
    const before = pointsOf(rows)
    expect(pointsOf(rows)).toBe(before)
    rows.append(block(3, 2))
    expect(ids(rows)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
    expect(pointsOf(rows)[0]).toBe(before[0])
    expect(before).toHaveLength(3)
  })

  it('of a large session are prepared by slices, once for all who ask, with the rows that arrive meanwhile', async () => {
    const rows = new ResultRows()
    rows.append(block(0, 4500))
    let [pauses, ms] = [0, 0]
    const pause = async () => {
      pauses++
      if (pauses === 1) rows.append(block(4500, 1000))
    }
    // A millisecond for each look at the clock.
    const slow = { pause, now: () => ms++ }
    await Promise.all([takePoints(rows, slow), takePoints(rows, slow)])
    expect(pauses).toBe(3)
    expect(ids(rows)).toEqual(Array.from({ length: 5500 }, (_, i) => `r${i}`))
    const taken = pointsOf(rows)
    await takePoints(rows, { pause: () => expect.fail('there is nothing more to take in') })
    expect(pointsOf(rows)).toBe(taken)
  })
})
