import { expect, test } from 'vitest'
import { Tempo } from './sampler'

/** What is believed of samples of `each` seconds, asked for in these numbers, where a request costs `request` seconds. */
const believed = (request: number, each: number, counts: readonly number[]) => {
  const tempo = new Tempo()
  return counts.map((samples) => tempo.see({ samples, inner: 10, seconds: request + samples * each })).at(-1)!
}

test('the cost of a request is not taken for that of its samples', () => {
  expect(believed(0, 1e-3, [1, 2])).toBeCloseTo(1e-3, 9)
  expect(believed(1e-3, 1e-3, [1, 4])).toBeCloseTo(1e-3, 9)
  expect(believed(1e-3, 1e-3, [1, 4, 5])).toBeCloseTo(1e-3, 9)
})

test('where it is nearly all, as many samples are asked for as fit beside it', () => {
  const tempo = new Tempo()
  const [requestSeconds, perCall, wanted] = [3e-3, 1e-6, 2.5e-3]
  const see = (samples: number, inner: number) => tempo.see({ samples, inner, seconds: requestSeconds + samples * inner * perCall })
  // As calibration asks: one sample of ever more calls.
  see(1, 1)
  let each = see(1, 100)
  for (let i = 0; i < 4; i++) each = see(Math.max(1, Math.floor(wanted / each)), 100)
  expect(each).toBeCloseTo(100 * perCall, 9)
})

test('a slow first request, or one that was held up, makes the next at most four times too long', () => {
  for (const seconds of [0.5, 1e-6]) {
    const tempo = new Tempo()
    tempo.see({ samples: 1, inner: 1, seconds })
    expect(tempo.see({ samples: 4, inner: 1, seconds: 4e-3 })).toBeGreaterThanOrEqual(0.25e-3)
  }
})
