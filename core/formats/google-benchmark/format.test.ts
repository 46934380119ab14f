import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { caseId } from '../../case'
import { cleanSamples } from '../../measure/result/labels'
import { summarize } from '../../stats/summarize'
import { sessionFileSchema } from '../../session/types'
import { testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession, importSession } from '../registry'
import { parseName } from './name'

const imported = (name: string, text: string) => {
  const outcome = importSession(name, text)
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file
}
const fixture = (name: string) => readFileSync(resolve(import.meta.dirname, '../../../test/fixtures/formats/google-benchmark/import', name), 'utf8')
const refusal = (text: string) => {
  const outcome = importSession('b.json', text)
  return outcome.ok ? 'accepted' : outcome.message
}
const file = (...benchmarks: string[]) => `{"context":{"date":"2026-01-01T00:00:00+00:00"},"benchmarks":[${benchmarks.join(',')}]}`

describe('a file of Google Benchmark', () => {
  it('has a result for each benchmark, times in ns whatever their unit, and errors as failures', () => {
    const { results, environment, session } = imported('plain.json', fixture('plain.json'))
    expect(results.map(({ case: c, status }) => [c.op, c.params, c.threads, status])).toEqual([
      ['BM_Add', { arg0: 1024 }, 1, 'ok'], ['BM_Add', { arg0: 16384 }, 1, 'ok'], ['BM_Sum<double>', { rows: 16, cols: 64 }, 2, 'ok'], ['BM_Broken', {}, 1, 'failed'],
    ])
    // 3 floats of 4 bytes per element and call, from the rate the file states.
    expect(results.map((r) => r.bytes)).toEqual([12288, 196608, 0, 0])
    // 0.717 us of real time.
    expect(results[2]!.samplesNs).toEqual([expect.closeTo(716.9754284, 6)])
    expect(results[3]).toMatchObject({ message: 'no such device', samplesNs: [] })
    expect(environment).toMatchObject({ host: 'bench', logicalCpus: 2, caches: [{ name: 'L1d', bytes: 32768, instances: 2 }, { name: 'L1i' }, { name: 'L2' }, { name: 'L3', instances: 1 }] })
    expect(session).toMatchObject({ name: 'plain', tags: ['imported'] })
  })

  it('takes repetitions for samples and leaves their aggregates out', () => {
    const { results } = imported('repetitions.json', fixture('repetitions.json'))
    expect(results.filter((r) => r.status === 'ok').map((r) => r.samplesNs.length)).toEqual([3, 3, 3])
    expect(results[0]!.summary!.medianNs).toBeCloseTo(564.98666, 3)
  })

  it('takes figures as they are where there are no repetitions', () => {
    const { results } = imported('aggregates.json', fixture('aggregates.json'))
    expect(results).toHaveLength(2)
    expect(results.map(({ summary }) => [summary!.meanNs, summary!.medianNs])).toEqual([[expect.closeTo(564.55966, 4), expect.closeTo(564.59731, 4)], [expect.closeTo(401.98917, 4), expect.closeTo(399.95026, 4)]])
    for (const { samplesNs, summary } of results) {
      expect(samplesNs).toEqual([])
      expect(summary).toMatchObject({ count: 4 })
      expect(summary).not.toHaveProperty('minNs')
    }
  })

  it('of a session with labelled samples has aggregates over the repetitions in it, and comes back without a contradiction', () => {
    const samplesNs = [...Array.from({ length: 30 }, (_, i) => 1000 + i), ...Array.from({ length: 20 }, (_, i) => 5000 + i)]
    const rounds = { group: 1, numbers: Array.from({ length: 10 }, (_, i) => i), firstSamples: Array.from({ length: 10 }, (_, i) => 5 * i) }
    const summary = summarize(samplesNs.slice(0, 30))!
    const text = exportSession('google-benchmark', { ...testSession(), results: [testResult({ samplesNs, rounds, summary, labels: [{ kind: 'host-slowed', reason: 'other programs', first: 30, count: 20 }] })] })
    const outcome = importSession('rounds.json', text)
    if (!outcome.ok) throw new Error(outcome.message)
    expect(outcome.warnings).toBeUndefined()
    expect(outcome.file.results[0]!.samplesNs).toHaveLength(30)
    expect(outcome.file.results[0]!.summary!.medianNs).toBe(summary.medianNs)
  })

  it('reads names as the library builds them', () => {
    expect(parseName('BM_X<a/b>/64/n:3/min_time:0.5/process_time/real_time/threads:8')).toEqual({ op: 'BM_X<a/b>', params: { arg0: 64, n: 3 }, threads: 8, realTime: true })
  })

  it.each([
    ['no benchmarks', file(), /benchmarks: /],
    ['a time below zero', file('{"name":"a","real_time":-1}'), /^b\.json: benchmarks\[0\]\.real_time: expected a number of at least 0, received -1$/],
    ['a time that is none', file('{"name":"a","real_time":NaN}'), /benchmarks\[0\]\.real_time: expected a number, received null/],
    ['no time', file('{"name":"a"}'), /benchmarks\[0\]\.real_time: expected a number, received nothing/],
    ['an unknown unit', file('{"name":"a","real_time":1,"time_unit":"h"}'), /time_unit: expected one of "ns"/],
    ['an end in the middle', file('{"name":"a"').slice(0, -2), /^b\.json: line 1, column \d+: expected/],
  ])('is refused with %s', (_what, text, message) => expect(refusal(text)).toMatch(message))
})

it('what was exported comes back: cases, samples that count and why something failed', () => {
  for (let seed = 0; seed < 200; seed++) {
    const session = sessionFileSchema.parse(randomSession(seed))
    const seen = new Set<string>()
    session.results = session.results.filter((r) => r.summary && !seen.has(caseId(r.case)) && seen.add(caseId(r.case)))
    if (session.results.length === 0) continue
    const back = imported('x.json', exportSession('google-benchmark', session)).results
    expect(back.map((r) => ({ ...r.case, threads: r.case.threads ?? 1 }))).toEqual(session.results.map((r) => ({ ...r.case, threads: r.case.threads ?? 1 })))
    for (const [i, r] of session.results.entries()) {
      if (r.status === 'ok') expect(back[i]!.samplesNs).toEqual(cleanSamples(r))
      else expect(back[i]).toMatchObject({ status: 'failed', message: `${r.status}: ${r.message ?? ''}` })
    }
  }
})

it('a wrong result is never exported as a time', () => {
  const text = exportSession('google-benchmark', testSession([testResult({ status: 'wrong', message: 'differs' })]))
  expect(JSON.parse(text)).toMatchObject({ benchmarks: [{ error_occurred: true, error_message: 'wrong: differs', real_time: 0 }] })
})
