import { describe, expect, it } from 'vitest'
import { testCase, testResult, testSession } from '../../testing'
import { cleanSamples } from '../../measure/result/labels'
import { exportSession, importSession } from '../registry'
import { plausibleSession } from '../testing/sessions'
import { pytestStats } from './format'

const read = (value: unknown) => {
  const outcome = importSession('b.json', JSON.stringify(value), '2026-01-01T00:00:00.000Z')
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file
}
const benchmark = (change: object = {}) => ({ group: null, name: 'test_a', fullname: 'test_x.py::test_a', params: null, param: null, extra_info: {}, stats: { min: 1e-6, max: 3e-6, mean: 2e-6, stddev: 1e-7, rounds: 5, median: 1.5e-6, q1: 1.2e-6, q3: 2.4e-6 }, ...change })
const file = (benchmarks: unknown[], change: object = {}) => ({ machine_info: { node: 'bench', cpu: { brand_raw: 'A CPU' } }, commit_info: null, benchmarks, datetime: '2026-02-03T04:05:06.789', version: '4.0.0', ...change })

describe('reading', () => {
  it('times without samples are what the file states, in ns, and nothing is made up', () => {
    const [result] = read(file([benchmark()])).results
    expect(result).toMatchObject({ samplesNs: [], summary: { count: 5, medianNs: 1500, minNs: 1000, maxNs: 3000, meanNs: 2000, stddevNs: 100, p25Ns: 1200, p75Ns: 2400 } })
    expect(result!.summary).not.toHaveProperty('ciLowNs')
    expect(result!.verification).toBeUndefined()
  })

  it('takes a time without a zone for UTC, as the tool writes it', () => {
    expect(read(file([benchmark()])).session.createdAt).toBe('2026-02-03T04:05:06.789Z')
    expect(read(file([benchmark()], { datetime: '2026-02-03T04:05:06+02:00' })).session.createdAt).toBe('2026-02-03T02:05:06.000Z')
  })

  it('parameters become parameters, the name loses them, and dtype is understood', () => {
    const [result] = read(file([benchmark({ name: 'test_a[float16-8]', param: 'float16-8', params: { dtype: 'float16', n: 8, shape: [2, 4] } })])).results
    expect(result?.case).toMatchObject({ op: 'test_a', dtype: 'f16', backend: 'pytest-benchmark', impl: 'imported', params: { n: 8, shape: '[2,4]' } })
  })

  it('tests of one name in two files stay apart', () => {
    const ops = read(file([benchmark(), benchmark({ fullname: 'test_y.py::test_a' })])).results.map((result) => result.case.op)
    expect(ops).toEqual(['test_x.py::test_a', 'test_y.py::test_a'])
  })

  it('names the place of what is wrong', () => {
    expect(importSession('b.json', JSON.stringify(file([benchmark(), benchmark({ stats: { ...benchmark().stats, median: -1 } })])))).toEqual({ ok: false, message: 'b.json: benchmarks[1].stats.median: expected a number of at least 0, received -1' })
  })

  it('keeps the numbers of extra_info', () => {
    expect(read(file([benchmark({ extra_info: { elements: 1000, note: 'x' } })])).results[0]?.stated).toEqual({ elements: 1000 })
  })
})

describe('writing', () => {
  it('leaves out what is not right or has no samples', () => {
    const text = exportSession('pytest-benchmark', testSession([testResult({ status: 'wrong' }), testResult({ id: 'r2', samplesNs: [] })]))
    expect(JSON.parse(text)).toMatchObject({ benchmarks: [] })
  })

  it('leaves labelled samples out while enough are clean', () => {
    const samplesNs = [...Array.from({ length: 9 }, () => 100), 900]
    expect(pytestStats(testResult({ samplesNs, labels: [{ kind: 'throttled', reason: 'power limit', first: 9, count: 1 }] }))).toMatchObject({ rounds: 9, max: 1e-7 })
  })

  it('has the quartiles of the tool', () => {
    // As pytest-benchmark 3.2.2 prints them for these rounds.
    const of = (...samplesNs: number[]) => pytestStats(testResult({ samplesNs: samplesNs.map((s) => s * 1e9), labels: undefined }))
    expect(of(1, 2, 3, 4)).toMatchObject({ q1: 1.5, q3: 3.5 })
    expect(of(1, 2, 3, 4, 5)).toMatchObject({ q1: 1.75, q3: 4.25 })
    expect(of(1, 2, 3, 4, 5, 6, 7)).toMatchObject({ q1: 2.25, q3: 5.75 })
    expect(of(3)).toMatchObject({ q1: 3, q3: 3, stddev: 0, outliers: '0;0' })
  })

  it('read again, gives every right result back with its case and samples', () => {
    let results = 0
    for (let seed = 0; seed < 200; seed++) {
      const original = plausibleSession(seed)
      const right = original.results.filter((result) => result.status === 'ok')
      const back = read(JSON.parse(exportSession('pytest-benchmark', original))).results
      expect(back.map((result) => result.case)).toEqual(right.map((result) => result.case))
      for (const [i, result] of back.entries()) {
        const samples = cleanSamples(right[i]!)
        expect(result.samplesNs).toHaveLength(samples.length)
        for (const [j, ns] of result.samplesNs.entries()) expect(Math.abs(ns / samples[j]! - 1)).toBeLessThan(1e-15)
        results++
      }
    }
    expect(results).toBeGreaterThan(50)
  })

  it('keeps cases of other devices apart', () => {
    const session = testSession([testResult(), testResult({ id: 'r2', case: testCase({ backend: 'cuda', device: 'cuda:0', impl: 'kernel', threads: undefined }) })])
    expect(read(JSON.parse(exportSession('pytest-benchmark', session))).environment.devices.map(({ backend, id }) => [backend, id])).toEqual([['cpu', 'cpu'], ['cuda', 'cuda:0']])
  })
})
