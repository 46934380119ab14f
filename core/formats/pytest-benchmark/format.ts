import { cleanSamples } from '../../measure/result/labels'
import type { Result } from '../../result'
import type { SessionFile } from '../../session/types'
import { quantileOfSorted, sorted, mean, standardDeviation } from '../../stats/descriptive'
import { nsToSeconds } from '../shared/foreign'
import { caseName } from '../shared/per-case'
import { writeJson } from '../shared/json'
import type { FileFormat } from '../file-format'
import { importBenchmarks } from './read'

/** Version of the tool whose files these are laid out like. */
const LAYOUT = '3.2.2'

/**
 * One benchmark per right result that has samples: a group per operation, names that tell cases apart, the samples that
 * count as `data`, and in extra_info the case in full. `pytest-benchmark compare` reads it.
 */
function exportBenchmarks({ session, environment, results }: SessionFile): string {
  const lines = results.flatMap((result) => {
    const stats = result.status === 'ok' ? pytestStats(result) : undefined
    if (!stats) return []
    const { case: c, run, block } = result
    const name = [caseName(c), ...(run === undefined ? [] : [`run=${run}`]), ...(block ? [`pair=${block.pair}`, `quad=${block.quad}`, `place=${block.place}`] : [])].join('/')
    return writeJson({ group: c.op, name, fullname: `opscope::${name}`, params: c.params, param: null, extra_info: { opscope: { case: c, ...(run === undefined ? {} : { run }) } }, options: { disable_gc: false, timer: result.timer ?? 'unknown', warmup: true }, stats })
  })
  const cpu = { brand: environment.cpu, brand_raw: environment.cpu, count: environment.logicalCpus }
  const machine = { node: environment.host, processor: '', machine: '', python_version: '', python_implementation: '', system: environment.os, release: environment.kernel, cpu }
  const commit = { id: 'unversioned', time: null, author_time: null, dirty: false, project: 'opscope', branch: '(unknown)' }
  return `{\n"machine_info":${writeJson(machine)},\n"commit_info":${writeJson(commit)},\n"benchmarks":[${lines.length ? `\n${lines.join(',\n')}\n` : ''}],\n"datetime":${JSON.stringify(session.createdAt)},\n"version":"${LAYOUT}"\n}\n`
}

/**
 * Files of --benchmark-json, --benchmark-save and --benchmark-autosave. Times are seconds per call. With `data` the
 * statistics are made from the samples as for any session; without, they are those stated, whose quartiles are the
 * tool's own (medians of the halves). Parameters of a test are parameters of the case; one named dtype is its dtype.
 */
const format: FileFormat = {
  id: 'pytest-benchmark', title: 'pytest-benchmark', extension: 'json',
  description: 'JSON of the pytest plugin: passed results with their samples, for `pytest-benchmark compare`',
  exportSession: exportBenchmarks, importSession: importBenchmarks,
}
export default format

/** The figures that `pytest-benchmark compare` needs of each benchmark, in seconds per call. */
export interface PytestStats {
  min: number
  max: number
  mean: number
  stddev: number
  rounds: number
  median: number
  iqr: number
  q1: number
  q3: number
  iqr_outliers: number
  stddev_outliers: number
  outliers: string
  ld15iqr: number
  hd15iqr: number
  ops: number
  total: number
  data: number[]
  iterations: number
}

/** Quartiles as the tool has them: of an odd number of samples Langford's method 3, of an even one the medians of the halves. */
function quartiles(ascending: Float64Array): [number, number] {
  const count = ascending.length
  if (count === 1) return [ascending[0]!, ascending[0]!]
  if (count % 2 === 0) return [quantileOfSorted(ascending.subarray(0, count / 2), 0.5), quantileOfSorted(ascending.subarray(count / 2), 0.5)]
  const n = Math.floor(count / 4)
  const at = (i: number) => ascending[i]!
  return count % 4 === 1
    ? [0.25 * at(n - 1) + 0.75 * at(n), 0.75 * at(3 * n) + 0.25 * at(3 * n + 1)]
    : [0.75 * at(n) + 0.25 * at(n + 1), 0.25 * at(3 * n + 1) + 0.75 * at(3 * n + 2)]
}

/** Of the samples that count (labelled ones left out), in seconds as they are written; undefined where a result has no samples. */
export function pytestStats(result: Result): PytestStats | undefined {
  const data = cleanSamples(result).map(nsToSeconds)
  const ascending = sorted(data)
  const middle = mean(data)
  if (!ascending || middle === undefined) return undefined
  const [q1, q3] = quartiles(ascending)
  const fence = 1.5 * (q3 - q1)
  const stddev = standardDeviation(data) ?? 0
  const iqrOutliers = data.filter((s) => s < q1 - fence || s > q3 + fence).length
  const stddevOutliers = data.filter((s) => s < middle - stddev || s > middle + stddev).length
  const total = data.reduce((sum, s) => sum + s, 0)
  return {
    min: ascending[0]!, max: ascending.at(-1)!, mean: middle, stddev, rounds: data.length, median: quantileOfSorted(ascending, 0.5), iqr: q3 - q1, q1, q3,
    iqr_outliers: iqrOutliers, stddev_outliers: stddevOutliers, outliers: `${stddevOutliers};${iqrOutliers}`,
    ld15iqr: ascending.find((s) => s >= q1 - fence)!, hd15iqr: ascending.findLast((s) => s <= q3 + fence)!,
    ops: total > 0 ? data.length / total : 0, total, data, iterations: result.inner ?? 1,
  }
}
