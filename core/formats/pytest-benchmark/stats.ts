import { cleanSamples } from '../../measure/labels'
import type { Result } from '../../result'
import { quantileOfSorted, sorted } from '../../stats/quantile'
import { mean, standardDeviation } from '../../stats/spread'
import { nsToSeconds } from '../shared/decimal'

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

/** Of the samples that count (labelled ones left out); undefined where a result has no samples. */
export function pytestStats(result: Result): PytestStats | undefined {
  const samples = cleanSamples(result)
  const ascending = sorted(samples)
  const meanNs = mean(samples)
  if (!ascending || meanNs === undefined) return undefined
  const [q1, q3] = quartiles(ascending)
  const fence = 1.5 * (q3 - q1)
  const stddevNs = standardDeviation(samples) ?? 0
  const iqrOutliers = samples.filter((ns) => ns < q1 - fence || ns > q3 + fence).length
  const stddevOutliers = samples.filter((ns) => ns < meanNs - stddevNs || ns > meanNs + stddevNs).length
  const totalNs = samples.reduce((sum, ns) => sum + ns, 0)
  const s = nsToSeconds
  return {
    min: s(ascending[0]!), max: s(ascending.at(-1)!), mean: s(meanNs), stddev: s(stddevNs), rounds: samples.length, median: s(quantileOfSorted(ascending, 0.5)), iqr: s(q3 - q1), q1: s(q1), q3: s(q3),
    iqr_outliers: iqrOutliers, stddev_outliers: stddevOutliers, outliers: `${stddevOutliers};${iqrOutliers}`,
    ld15iqr: s(ascending.find((ns) => ns >= q1 - fence)!), hd15iqr: s(ascending.findLast((ns) => ns <= q3 + fence)!),
    ops: totalNs > 0 ? samples.length / nsToSeconds(totalNs) : 0, total: s(totalNs), data: samples.map(s), iterations: result.inner ?? 1,
  }
}
