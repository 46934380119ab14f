import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Summary } from '../../result'
import { summarize } from '../../stats/summarize'
import { testResult, testSession } from '../../testing'
import { exportSession, importSession } from '../registry'

const samplesNs = Array.from({ length: 40 }, (_, i) => 1000 + 10 * Math.sin(i * 7))
const honest = summarize(samplesNs)!

/** What reading a native file gives whose summary is changed. */
function read(change: Partial<Summary>, format = 'json') {
  const text = exportSession(format, testSession([testResult({ samplesNs, summary: { ...honest, ...change } })]))
  const outcome = importSession('claims.json', text)
  if (!outcome.ok) throw new Error(outcome.message)
  return { result: outcome.file.results[0]!, warnings: outcome.warnings }
}

describe('a native file', () => {
  it('that agrees with its samples is read as it is', () => {
    const { result, warnings } = read({})
    expect(warnings).toBeUndefined()
    expect(result).toMatchObject({ summary: honest, grade: 'A' })
    expect(result.notes).toBeUndefined()
  })

  it.each<[Partial<Summary>, string]>([
    [{ medianNs: 500, ciLowNs: 495, ciHighNs: 505, minNs: 400 }, 'median 500 ns (its samples: 1.00 µs), minimum 400 ns (its samples: 990 ns), 95 % CI 495 ns to 505 ns (the median of its samples is 1.00 µs)'],
    [{ maxNs: 2000 }, 'maximum 2.00 µs (its samples: 1.01 µs)'],
    [{ meanNs: 995 }, 'mean 995 ns (its samples: 1.00 µs)'],
    [{ count: 4000 }, '4000 samples (it has 40)'],
  ])('whose statistics contradict its samples is recomputed with both figures: %j', (change, what) => {
    for (const format of ['json', 'jsonl']) {
      const { result, warnings } = read(change, format)
      expect(warnings).toEqual([`claims.json: add 1000 f32 cpu avx2 hot 1 thread: The file states ${what}. The statistics were computed again from the samples.`])
      expect(result.summary).toEqual(honest)
      // It stood on the other statistics.
      expect(result).not.toHaveProperty('grade')
      expect(result.notes).toEqual([`The file states ${what}. The statistics were computed again from the samples.`])
    }
  })

  it('that claims an interval far narrower than its samples allow is recomputed', () => {
    const { result, warnings } = read({ ciLowNs: honest.medianNs - 0.01, ciHighNs: honest.medianNs + 0.01 })
    expect(warnings![0]).toContain('its samples around the median reach from')
    expect(result.summary).toEqual(honest)
  })

  it('without samples is refused where its figures cannot be true together', () => {
    const text = exportSession('json', testSession([testResult({ samplesNs: [], summary: { medianNs: 100, minNs: 120 } })]))
    expect(importSession('a.json', text)).toEqual({ ok: false, message: 'a.json: results[0].summary: expected a minimum of at most the median, received 120 ns and 100 ns' })
  })

  it('of many contradictions tells the first ones', () => {
    const results = Array.from({ length: 30 }, (_, i) => testResult({ id: `r${i}`, samplesNs, summary: { ...honest, maxNs: 2000 } }))
    const outcome = importSession('a.json', exportSession('json', testSession(results)))
    expect(outcome.ok && outcome.warnings).toHaveLength(21)
    expect(outcome.ok && outcome.warnings!.at(-1)).toBe('a.json: 10 more results contradict their samples in the same way')
  })
})

describe('results of other tools', () => {
  const fixture = (path: string) => readFileSync(resolve(import.meta.dirname, '../../../test/fixtures/formats', path), 'utf8')

  it('agree with their samples as the tools wrote them', () => {
    const root = resolve(import.meta.dirname, '../../../test/fixtures/formats')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('/import/'))
    expect(files.length).toBeGreaterThan(10)
    for (const path of files) expect([path, importSession(path, readFileSync(join(root, path), 'utf8'))]).toMatchObject([path, { ok: true }])
    for (const path of files) expect(importSession(path, fixture(path))).not.toHaveProperty('warnings')
  })

  const changed = (path: string, change: (text: string) => string) => {
    const outcome = importSession('x', change(fixture(path)))
    if (!outcome.ok) throw new Error(outcome.message)
    return outcome.warnings?.join('\n') ?? ''
  }

  it('are held to their samples: pytest-benchmark', () => {
    const halved = (text: string) => JSON.stringify({ ...JSON.parse(text), benchmarks: (JSON.parse(text) as { benchmarks: { stats: { median: number } }[] }).benchmarks.map((b) => ({ ...b, stats: { ...b.stats, median: b.stats.median / 2 } })) })
    expect(changed('pytest-benchmark/import/with-data.json', halved)).toMatch(/The file states median .* \(its samples: .*\)\. The statistics were computed again/)
  })

  it('are held to their samples: Google Benchmark', () => {
    // Bare NaN and Infinity stand in its counters.
    const parse = (text: string) => JSON.parse(text.replace(/: (NaN|-?Infinity)/g, ': 0')) as File
    type File = { benchmarks: { aggregate_name?: string; real_time: number; run_type: string; bytes_per_second?: number }[] }
    const edit = (change: (run: File['benchmarks'][number], i: number) => object) => (text: string) => JSON.stringify({ ...parse(text), benchmarks: parse(text).benchmarks.map((run, i) => ({ ...run, ...change(run, i) })) })
    expect(changed('google-benchmark/import/repetitions.json', edit((run) => (run.aggregate_name === 'median' ? { real_time: run.real_time * 2 } : {})))).toContain('The file states median')
    expect(changed('google-benchmark/import/repetitions.json', edit((run, i) => (run.bytes_per_second && run.run_type === 'iteration' ? { bytes_per_second: run.bytes_per_second * (1 + i) } : {})))).toContain('depending on the repetition')
  })

  it('are held to their samples: cargo-criterion', () => {
    expect(changed('cargo-criterion/import/from-schema.jsonl', (text) => text.replace('"median": {"estimate": 3460.0791666666664', '"median": {"estimate": 1730'))).toContain('The file states median 1.73 µs (its samples: 3.46 µs)')
  })

  it('are held to their own figures: throughputs of CSV and of the CUDA/Triton suite', () => {
    const csv = importSession('t.csv', 'op,n,median_ns,bytes,gbps\nadd,1000,100,12000,600\n')
    expect(csv).toMatchObject({ ok: true, warnings: ['t.csv: add 1000 unknown csv imported hot: The file states a throughput of 600 GB/s, but the work and the time of one call give 120 GB/s. The throughput was computed again.'], file: { results: [{ bytes: 12000 }] } })
    const rows = JSON.parse(fixture('comprehensive/export.json')) as { throughput_gbps: number | null }[]
    const suite = importSession('s.json', JSON.stringify(rows.map((row) => ({ ...row, throughput_gbps: row.throughput_gbps && row.throughput_gbps * 3 }))))
    expect(suite.ok && suite.warnings!.length).toBeGreaterThan(0)
  })
})

it.each(['app-session', 'python-session'])('the session %s agrees with its samples', (name) => {
  const text = gunzipSync(readFileSync(resolve(import.meta.dirname, `../../../test/bench/results/${name}.json.gz`))).toString()
  const outcome = importSession(`${name}.json`, text)
  expect(outcome.ok && outcome.warnings).toBeUndefined()
  expect(outcome.ok).toBe(true)
})
