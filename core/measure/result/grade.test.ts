import { expect, test } from 'vitest'
import type { SampleLabel } from '../../result'
import { createRandom, normal } from '../../stats/random'
import { summarize } from '../../stats/summarize'
import { gradeOf, type GradeInput } from './grade'
import { chooseSamples } from './labels'

const random = createRandom(4)
const calm = Array.from({ length: 40 }, () => 1e6 * (1 + 0.001 * normal(random)))

function grade(samplesNs: readonly number[], over: Partial<GradeInput> = {}) {
  const labels = over.labels ?? []
  const choice = chooseSamples(labels, samplesNs.length)
  const counted = samplesNs.filter((_, i) => choice.used[i] === 1)
  return gradeOf({
    summary: summarize(counted)!, samplesNs: counted, taken: samplesNs.length, labels, choice, elapsedSeconds: 1, converged: true, stopReason: 'interval within ±0.5 %',
    timer: 'steady-clock', tickNs: 1, inner: 1, settled: true, states: [], ...over,
  })
}
const throttled = (first: number, count: number): SampleLabel => ({ kind: 'throttled', reason: 'power limit', first, count })

test('converged, low noise is A, with no reason', () => expect(grade(calm)).toEqual({ grade: 'A', reasons: [] }))

test.each([
  ['all labelled', [throttled(0, 40)], 'C', 'No clean sample: throttled (power limit) in 40 of 40.'],
  ['most labelled', [throttled(0, 28)], 'C', 'Too few clean samples: 12 of 40, so all count; throttled (power limit) in 28 of 40.'],
  ['many labelled', [throttled(0, 15)], 'C', 'Samples excluded: 15 of 40; throttled (power limit) in 15 of 40.'],
  ['few labelled', [throttled(0, 4)], 'B', 'Samples excluded: 4 of 40; throttled (power limit) in 4 of 40.'],
] as const)('%s', (_name, labels, letter, reason) => expect(grade(calm, { labels })).toEqual({ grade: letter, reasons: [reason] }))

const odd = (make: (i: number) => number, n = 40) => Array.from({ length: n }, (_, i) => make(i))
test.each([
  ['skewed', odd((i) => 1000 + (i % 20) ** 3), 'B', /Noisy/],
  ['bimodal', odd((i) => (i % 2 === 0 ? 1000 : 1500)), 'B', /Noisy: the MAD is 20 % of the median/],
  ['drifting', odd((i) => 1000 + 10 * i), 'B', /Drifting: the second half is 1[0-9] % slower/],
  ['drifting down', odd((i) => 1400 - 10 * i), 'B', /faster than the first/],
  ['two values', odd((i) => (i % 8 === 0 ? 1001 : 1000)), 'B', /Outliers: 5 of 40 samples/],
  ['all equal', odd(() => 1000), 'A', /^$/],
  ['one sample', [1000], 'B', /Too few samples: 1 gives no/],
  ['two samples', [1000, 1001], 'B', /Too few samples: 2 give no/],
] as const)('%s samples', (_name, samples, letter, reason) => {
  const graded = grade(samples)
  expect(graded.grade).toBe(letter)
  expect(graded.reasons.join(' ')).toMatch(reason)
  expect(graded.reasons.join(' ')).not.toMatch(/NaN|Infinity|undefined/)
})

test('samples beside a slower processor than the best are B at most, whether the case or the process saw the best', () => {
  const beside = (probesNs: number[], probeBestNs?: number, over: Partial<GradeInput> = {}) => grade(calm, { probesNs, states: [{ probeBestNs }], ...over })
  const reason = 'CPU slowed: it ran at 94 % of its best speed (lower clock, or another program on the core).'
  expect(beside(odd(() => 3200), 3008)).toEqual({ grade: 'B', reasons: [reason] })
  expect(beside(odd((i) => (i < 10 ? 3008 : 3200)))).toEqual({ grade: 'B', reasons: [reason] })
  // Calm readings, few slow ones, and none at all.
  for (const probesNs of [odd((i) => 3008 + (i % 3) * 10), odd((i) => (i % 3 === 0 ? 3700 : 3008)), odd(() => 0)]) expect(beside(probesNs, 3000)).toEqual({ grade: 'A', reasons: [] })
  // What a timer of 100 ns makes of calm readings.
  expect(beside(odd((i) => (i % 4 === 0 ? 3000 : 3100)), 3000, { tickNs: 100 }).reasons).toEqual([])
})

test('slow probes beside excluded samples say nothing of those that count', () => {
  const labels: SampleLabel[] = [{ kind: 'host-slowed', reason: 'slow', first: 0, count: 19 }]
  expect(grade(calm, { labels, probesNs: odd((i) => (i < 22 ? 9000 : 3000)), states: [] }).reasons).toHaveLength(1)
})

test('other reasons: not converged, short samples, unsettled, wall clock, a hypervisor', () => {
  expect(grade(calm, { converged: false, stopReason: 'limit of 1 s reached' })).toEqual({ grade: 'C', reasons: ['Not converged: limit of 1 s reached.'] })
  expect(grade(calm, { tickNs: 2e4 })).toMatchObject({ grade: 'C', reasons: [expect.stringMatching(/coarse: 50 ticks/)] })
  expect(grade(calm, { tickNs: 2e3 })).toMatchObject({ grade: 'B', reasons: [expect.stringMatching(/500 ticks per sample \(want at least 1000\)/)] })
  expect(grade(calm, { settled: false, timer: 'wall-clock' })).toMatchObject({ grade: 'B', reasons: [expect.stringMatching(/Warm-up/), expect.stringMatching(/Wall clock/)] })
  expect(grade(calm, { states: [{ stealMs: 30 }, { stealMs: 20 }] })).toEqual({ grade: 'B', reasons: ['Hypervisor: it took 50 ms of CPU time in 1000 ms of sampling.'] })
  expect(grade(calm, { states: [{ stealMs: 10 }] })).toEqual({ grade: 'A', reasons: [] })
})
