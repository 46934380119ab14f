import { describe, expect, it, test } from 'vitest'
import { createRandom } from '../stats/random'
import { changePoints, bestSegments, type SeriesPoint } from './change-points'

const THRESHOLD = 0.01

/** A series around these levels (ns) with this relative noise, approximately normal, and intervals as wide. */
function series(levels: readonly number[], noise: number, seed = 1): SeriesPoint[] {
  const random = createRandom(seed)
  const normal = () => Array.from({ length: 12 }, random).reduce((sum, u) => sum + u, 0) - 6
  return levels.map((level) => {
    const medianNs = level * Math.exp(noise * normal())
    return { medianNs, ciLowNs: medianNs * (1 - noise), ciHighNs: medianNs * (1 + noise) }
  })
}
const repeat = (level: number, count: number) => new Array<number>(count).fill(level)

describe('change points', () => {
  it('finds one step where it is and how large it is', () => {
    const found = changePoints(series([...repeat(1000, 12), ...repeat(1080, 9)], 0.004), THRESHOLD)
    expect(found.changes).toHaveLength(1)
    const [change] = found.changes
    expect(change!.at).toBe(12)
    expect(change!.ratio).toBeCloseTo(1.08, 2)
    expect(change!.low).toBeLessThan(1.08)
    expect(change!.high).toBeGreaterThan(1.08)
    expect(change!.low).toBeGreaterThan(1.07)
    expect(found.segments.map(({ first, last }) => [first, last])).toEqual([[0, 11], [12, 20]])
    expect(found.segments[1]!.levelNs).toBeCloseTo(1080, -1)
  })

  it('finds two steps, up and down again', () => {
    const found = changePoints(series([...repeat(500, 10), ...repeat(650, 5), ...repeat(480, 10)], 0.01, 3), THRESHOLD)
    expect(found.changes.map(({ at }) => at)).toEqual([10, 15])
    expect(found.changes[0]!.ratio).toBeGreaterThan(1.2)
    expect(found.changes[1]!.ratio).toBeLessThan(0.8)
  })

  it('tells a change as soon as two measurements in a row show it', () => {
    const before = series(repeat(1000, 10), 0.003)
    expect(changePoints([...before, { medianNs: 1200 }], THRESHOLD)).toMatchObject({ changes: [], outliers: [10] })
    expect(changePoints([...before, { medianNs: 1200 }, { medianNs: 1203 }], THRESHOLD).changes.map(({ at }) => at)).toEqual([10])
  })

  it('sets single outliers apart and sees the step behind them', () => {
    const points = series([...repeat(1000, 10), ...repeat(900, 10)], 0.004, 5)
    points[4]!.medianNs = 3000
    points[15]!.medianNs = 400
    const found = changePoints(points, THRESHOLD)
    expect(found.outliers).toEqual([4, 15])
    expect(found.changes.map(({ at }) => at)).toEqual([10])
  })

  it('calls a drift a drift and not a staircase', () => {
    const found = changePoints(series(Array.from({ length: 30 }, (_, i) => 1000 * 1.01 ** i), 0.004, 7), THRESHOLD)
    expect(found.changes).toEqual([])
    expect(found.drift?.ratio).toBeCloseTo(1.01 ** 29, 1)
  })

  it('reports no change below the threshold, however sure', () => {
    const points = series([...repeat(1000, 40), ...repeat(1006, 40)], 0.0005)
    expect(changePoints(points, THRESHOLD).changes).toEqual([])
    expect(changePoints(points, 0.002).changes.map(({ at }) => at)).toEqual([40])
  })

  it('finds hardly anything where there is nothing, at any length and noise', () => {
    let falseFindings = 0
    let runs = 0
    for (const count of [4, 6, 10, 30, 120]) {
      for (const noise of [0.002, 0.01, 0.05]) {
        for (let seed = 1; seed <= 40; seed++, runs++) {
          const { changes, drift } = changePoints(series(repeat(1000, count), noise, seed), THRESHOLD)
          if (changes.length > 0 || drift) falseFindings++
        }
      }
    }
    expect(falseFindings / runs).toBeLessThan(0.05)
  })

  it('says nothing of fewer than four points or of values that are no times', () => {
    expect(changePoints(series([1, 2, 3], 0), THRESHOLD)).toEqual({ changes: [], segments: [], outliers: [] })
    expect(changePoints([], THRESHOLD).segments).toEqual([])
    expect(changePoints(repeat(0, 10).map((medianNs) => ({ medianNs })), THRESHOLD).segments).toEqual([])
    const some = [1000, 1001, NaN, 1000, 1500, 1501, 0, 1499].map((medianNs) => ({ medianNs }))
    expect(changePoints(some, THRESHOLD).changes.map(({ at }) => at)).toEqual([4])
  })

  it('does the same for equal values without intervals', () => {
    expect(changePoints(repeat(7, 20).map((medianNs) => ({ medianNs })), THRESHOLD)).toEqual({ changes: [], segments: [{ first: 0, last: 19, levelNs: expect.closeTo(7, 9) as number }], outliers: [] })
  })
})

function costOf(values: readonly number[], starts: readonly number[], penalty: number): number {
  return starts.reduce((sum, start, i) => {
    const part = values.slice(start, starts[i + 1] ?? values.length)
    const mean = part.reduce((a, b) => a + b, 0) / part.length
    return sum + part.reduce((a, b) => a + (b - mean) ** 2, 0)
  }, penalty * (starts.length - 1))
}

/** Every way to cut `n` values into segments of at least `shortest`, as first indices. */
function* cuts(n: number, shortest: number, first = 0): Generator<number[]> {
  yield [first]
  for (let next = first + shortest; next + shortest <= n; next++) for (const rest of cuts(n, shortest, next)) yield [first, ...rest]
}

test.each([1, 2, 3])('no way of cutting a random series into segments of at least %d is better', (shortest) => {
  const random = createRandom(shortest)
  for (let series = 0; series < 5000; series++) {
    const n = Math.max(shortest, 4 + Math.floor(random() * 8))
    // Levels that change now and then, with noise as large: many splits are nearly as good.
    let level = 0
    const values = Array.from({ length: n }, () => {
      if (random() < 0.3) level = 6 * random()
      return level + 2 * random()
    })
    const penalty = 6 * random()
    const found = bestSegments(values, penalty, shortest)
    const least = Math.min(...[...cuts(n, shortest)].map((starts) => costOf(values, starts, penalty)))
    expect(costOf(values, found, penalty)).toBeLessThanOrEqual(least + 1e-9)
    expect(found.every((start, i) => (found[i + 1] ?? n) - start >= shortest)).toBe(true)
  }
})

test('a series shorter than two segments is one', () => {
  expect(bestSegments([1, 100, 1], 0, 2)).toEqual([0])
  expect(bestSegments([1, 100], 0, 2)).toEqual([0])
})
