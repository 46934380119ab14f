import { describe, expect, it } from 'vitest'
import { cleanSamples, labelSamples } from '../../measure/result/labels'
import type { Result } from '../../result'
import type { SessionFile } from '../../session/types'
import { mean, median, quantile, standardDeviation } from '../../stats/descriptive'
import { createRandom } from '../../stats/random'
import { summarize } from '../../stats/summarize'
import { testCase, testResult, testSession } from '../../testing'
import { exportSession, FORMATS } from '../registry'

/** Figures of a case or benchmark as a file states them beside the samples that the file has of it, or a file with samples beside it. Times in one unit. */
interface Stated {
  samples: number[]
  figures: Partial<Record<'median' | 'mean' | 'stddev' | 'min' | 'max' | 'count' | 'total' | 'p05', number>>
}

const FROM_SAMPLES: Readonly<Record<keyof Stated['figures'], (samples: number[]) => number | undefined>> = {
  median, mean, stddev: (samples) => standardDeviation(samples) ?? 0, min: (samples) => Math.min(...samples), max: (samples) => Math.max(...samples),
  count: ({ length }) => length, total: (samples) => samples.reduce((sum, one) => sum + one, 0), p05: (samples) => quantile(samples, 0.05),
}

const number = (text: string | undefined) => (text === undefined || text === '' ? undefined : Number(text))
const known = (figures: Record<string, number | undefined>) => Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined)) as Stated['figures']
const rowsOf = (text: string): Record<string, string>[] => {
  const [heads = [], ...rows] = text.trimEnd().split('\n').map((line) => line.split(','))
  return rows.map((row) => Object.fromEntries(heads.map((head, i) => [head, row[i] ?? ''])))
}
const ofSummary = ({ summary: s, ...result }: Result): Stated => ({ samples: [...cleanSamples(result)], figures: known({ median: s?.medianNs, mean: s?.meanNs, stddev: s?.stddevNs, min: s?.minNs, max: s?.maxNs, count: s?.count, p05: s?.p05Ns }) })

/** The samples of all right runs of a case by themselves, for formats with one figure a case. */
const medianOfRuns = (file: SessionFile, name: (result: Result) => boolean) => median(file.results.filter(name).map((result) => median(cleanSamples(result))!))

/** What each format with figures states; those without figures of single cases beside their samples are named below. */
const STATED: Readonly<Record<string, (text: string, file: SessionFile) => Stated[]>> = {
  json: (text) => (JSON.parse(text) as SessionFile).results.map(ofSummary),
  jsonl: (text) => text.trimEnd().split('\n').slice(1).map((line) => ofSummary(JSON.parse(line) as Result)),
  csv: (text, file) => {
    const samples = rowsOf(exportSession('samples-csv', file)).filter(({ counts }) => counts === '1')
    return rowsOf(text).map((row) => ({
      samples: samples.filter(({ result_id: id }) => id === row['result_id']).map(({ ns }) => Number(ns)),
      figures: known({ median: number(row['median_ns']), mean: number(row['mean_ns']), stddev: number(row['stddev_ns']), min: number(row['min_ns']), max: number(row['max_ns']), count: number(row['samples']), p05: number(row['p05_ns']) }),
    }))
  },
  'google-benchmark': (text) => {
    const { benchmarks } = JSON.parse(text) as { benchmarks: { run_name: string; run_type: string; aggregate_name?: string; real_time: number; repetitions: number }[] }
    return [...new Set(benchmarks.map((run) => run.run_name))].map((name) => {
      const own = benchmarks.filter((run) => run.run_name === name)
      const figure = (kind: string) => {
        const found = own.filter((run) => run.aggregate_name === kind)
        expect(found.length).toBeLessThanOrEqual(1)
        return found[0]?.real_time
      }
      return { samples: own.filter((run) => run.run_type === 'iteration').map((run) => run.real_time), figures: known({ median: figure('median'), mean: figure('mean'), stddev: figure('stddev'), count: own[0]!.repetitions }) }
    })
  },
  'pytest-benchmark': (text) => {
    const { benchmarks } = JSON.parse(text) as { benchmarks: { fullname: string; stats: Record<string, number> & { data: number[] } }[] }
    expect(new Set(benchmarks.map(({ fullname }) => fullname)).size).toBe(benchmarks.length)
    return benchmarks.map(({ stats: { data, median: middle, mean: average, stddev, min, max, rounds, total, ops } }) => {
      expect(ops! * total!).toBeCloseTo(data.length, 6)
      return { samples: data, figures: known({ median: middle, mean: average, stddev, min, max, count: rounds, total }) }
    })
  },
  bencher: (text, file) =>
    Object.entries(JSON.parse(text) as Record<string, { latency: { value: number } }>).map(([name, { latency }]) => ({ samples: [medianOfRuns(file, ({ case: c }) => name.includes(`/${c.impl}/`))!], figures: { median: latency.value } })),
  'github-action-benchmark': (text, file) =>
    (JSON.parse(text) as { name: string; value: number }[]).map(({ name, value }) => ({ samples: [medianOfRuns(file, ({ case: c }) => name.includes(`/${c.impl}/`))!], figures: { median: value } })),
  comprehensive: (text, file) =>
    (JSON.parse(text) as { time_ms: number; opscope: { median_ms: number; stddev_ms?: number; samples: number } }[]).map(({ time_ms, opscope: { median_ms, stddev_ms, samples } }, i) => ({
      samples: cleanSamples(file.results[i]!).map((ns) => ns / 1e6), figures: known({ median: median_ms, mean: time_ms, stddev: stddev_ms, count: samples }),
    })),
}
/** Reports in words and pictures, and lists of samples alone. */
const WITHOUT_FIGURES = ['chrome-trace', 'html', 'markdown', 'samples-csv', 'suite', 'suite-json', 'suite-picture']

/** Two implementations in several runs, with labels that set samples aside, too many labels, rounds, equal samples and single ones. */
function drawn(seed: number): SessionFile {
  const random = createRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const results = ['avx2', 'scalar'].flatMap((impl) => Array.from({ length: 1 + below(3) }, (_, run): Result => {
    const bursts = 1 + below(30)
    const samplesNs = Array.from({ length: 4 * bursts }, () => 10 ** (1 + below(6)) * (1 + below(20) / 7)).slice(0, random() < 0.2 ? 1 : undefined)
    const labels = labelSamples({ count: samplesNs.length, states: [{ firstSample: below(samplesNs.length), state: random() < 0.7 ? { throttle: ['power limit'] } : {} }] })
    const rounds = random() < 0.5 ? { group: run, numbers: Array.from({ length: bursts }, (_, i) => i), firstSamples: Array.from({ length: bursts }, (_, i) => 4 * i) } : undefined
    const summary = summarize(cleanSamples({ samplesNs, labels, ...(rounds ? { rounds } : {}) }))!
    return testResult({ id: `${impl}-${run}`, case: testCase({ impl }), samplesNs, labels, summary, run, inner: 1 + below(9), ...(rounds ? { rounds } : {}) })
  }))
  return testSession(results)
}

it('every format is held to its samples, or has no figures of them', () => {
  expect([...Object.keys(STATED), ...WITHOUT_FIGURES].sort()).toEqual(FORMATS.filter((format) => format.exportSession).map(({ id }) => id).sort())
})

describe.each(Object.keys(STATED))('%s', (id) => {
  it('states figures that its samples give', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const file = drawn(seed)
      const stated = STATED[id]!(exportSession(id, file), file)
      expect(stated.length).toBeGreaterThan(0)
      for (const { samples, figures } of stated) {
        expect(figures.median).toBeGreaterThan(0)
        for (const [name, value] of Object.entries(figures)) {
          const own = FROM_SAMPLES[name as keyof Stated['figures']](samples)!
          expect(Math.abs(value - own), `${name}, seed ${seed}`).toBeLessThanOrEqual(1e-9 * own)
        }
      }
    }
  })
})

it.each(['google-benchmark', 'pytest-benchmark'])('%s has aggregates of the samples beside them, whatever an older version stored', (id) => {
  const file = drawn(3)
  for (const result of file.results) result.summary = { ...result.summary!, medianNs: 1, meanNs: 2, stddevNs: 3 }
  for (const { samples, figures } of STATED[id]!(exportSession(id, file), file)) expect(figures.median).toBeCloseTo(median(samples)!, 9)
})
