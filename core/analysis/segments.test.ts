import { expect, test } from 'vitest'
import { createRandom } from '../stats/random'
import { bestSegments } from './segments'

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
