import type { Device } from '@core/backend'
import type { BenchmarkCase, Mode, Params } from '@core/case'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import type { Interval } from '@core/stats/bootstrap'
import { overRuns } from '@core/stats/over-runs'
import { median, quantile } from '@core/stats/quantile'
import { standardDeviation } from '@core/stats/spread'
import { loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, describe, openBed, type Bed } from './proof/bed'

/** Cases of different noise: a chain without memory, caches, memory, many threads. */
const CASES: readonly { op: string; params: (gpu: boolean) => Params; mode: Mode; oneThread?: boolean }[] = [
  { op: 'spin', params: () => ({ iterations: 20_000 }), mode: 'hot', oneThread: true },
  { op: 'add', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 16 }), mode: 'hot', oneThread: true },
  { op: 'softmax', params: (gpu) => ({ rows: gpu ? 8192 : 256, cols: 1024 }), mode: 'hot' },
  { op: 'exp', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 18 }), mode: 'cold', oneThread: true },
]
/** One short measurement, with a slice of the long run after it. */
interface Trial extends Interval {
  medianNs: number
  count: number
  converged: boolean
  /** How many times wider the interval is than for independent samples. */
  widened: number
  /** The interval before that. */
  narrow: Interval
  /** Smallest difference the timer can show per call: an interval knows nothing finer. */
  resolutionNs: number
  slice: readonly number[]
}

async function trialOf(bed: Bed, c: BenchmarkCase, settings: MeasureSettings): Promise<Trial> {
  const { summary, converged = false, tickNs = 0, inner = 1 } = await bed.measure(c, settings, true)
  if (summary?.ciLowNs === undefined || summary.ciHighNs === undefined) throw new Error(`${describe(c)}: a measurement of ${summary?.count ?? 0} samples has no interval`)
  const { medianNs, ciLowNs: low, ciHighNs: high, ciWidened: widened = 1 } = summary
  const unwidened = (bound: number) => medianNs * (bound / medianNs) ** (1 / widened)
  const slice = await bed.measure(c, { ...settings, rule: { id: 'fixed-time', seconds: settings.minSeconds } }, true)
  return { low, high, medianNs, count: summary.count!, converged, widened, narrow: { low: unwidened(low), high: unwidened(high) }, resolutionNs: tickNs / inner, slice: slice.samplesNs }
}

const holds = ({ low, high }: Interval, value: number, resolutionNs: number) => low - resolutionNs / 2 <= value && value <= high + resolutionNs / 2
const share = (hits: readonly boolean[]) => (hits.filter(Boolean).length / hits.length) * 100

interface Judged {
  figures: Figure[]
  row: Record<string, string | number>
  /** Of the intervals over repeats, and of the short runs: whether each held its truth. */
  repeated: boolean[]
  short: boolean[]
}

/** Intervals of every `repeats` rounds in a row, whose unit is the run, against the median of all runs. */
function overRounds(trials: readonly Trial[], repeats: number): boolean[] {
  const truth = median(trials.map(({ medianNs }) => medianNs))!
  const resolutionNs = median(trials.map((trial) => trial.resolutionNs))!
  return trials.slice(repeats - 1).map((_, i) => {
    const { median: middle, interval } = overRuns(trials.slice(i, i + repeats).map(({ medianNs }) => medianNs))!
    return holds(interval ?? { low: middle, high: middle }, truth, resolutionNs)
  })
}

function judge(c: BenchmarkCase, trials: readonly Trial[], repeats: number, gpu: boolean): Judged {
  const truth = median(trials.flatMap(({ slice }) => slice))!
  const short = trials.map((trial) => holds(trial, truth, trial.resolutionNs))
  const repeated = overRounds(trials, repeats)
  const narrow = share(trials.map((trial) => holds(trial.narrow, truth, trial.resolutionNs)))
  const halfWidth = median(trials.map(({ low, high }) => (high - low) / 2))!
  // Two independent samples of the same size differ by what the interval says; the rest of the spread is between runs.
  const between = standardDeviation(trials.map(({ medianNs }) => medianNs))!
  const expected = Math.max(halfWidth, median(trials.map(({ resolutionNs }) => resolutionNs / 2))!) / 1.96
  const widened = trials.map((trial) => trial.widened)
  const name = `${c.device} ${describe(c)}`
  return {
    repeated,
    short,
    figures: [
      { name: `${name}: intervals over ${repeats} runs that hold the median of all runs, of ${repeated.length}`, value: share(repeated), unit: '%', aim: 93, better: 'more' },
      { name: `${name}: intervals of one short run that hold the long-run median, of ${trials.length}`, value: share(short), unit: '%', ...(gpu ? { aim: 93, better: 'more' as const } : { published: true }) },
      { name: `${name}: the same without widening for samples that depend on each other`, value: narrow, unit: '%', published: true },
      { name: `${name}: widening, 95th percentile`, value: quantile(widened, 0.95)!, unit: 'x' },
      { name: `${name}: spread of the short runs over what their intervals say (1 = all noise is within a run)`, value: between / expected, unit: 'x', published: true },
    ],
    row: { case: name, trials: trials.length, truthNs: truth, short: share(short), narrow, repeated: share(repeated), halfWidthPercent: (halfWidth / truth) * 100, betweenPercent: (between / truth) * 100, widenedMedian: median(widened)!, widenedP95: quantile(widened, 0.95)!, resolutionPercent: (median(trials.map(({ resolutionNs }) => resolutionNs))! / truth) * 100, medianSamples: median(trials.map(({ count }) => count))!, converged: trials.filter(({ converged }) => converged).length, longRunSamples: trials.reduce((sum, { slice }) => sum + slice.length, 0) },
  }
}

/**
 * Whether 95 % intervals hold the truth, judged apart for one short run (truth: the median of a long run whose slices lie
 * between the trials) and for intervals whose unit is the run (every `repeats` rounds in a row; truth: the median of all
 * runs). Rounds go over all cases by turns, as the repeats of a sweep do, so that runs of a case lie apart in time.
 * devices=cpu | cuda:0; trials=200 rounds; repeats=8; seconds=0.05 of a trial at least, and of a slice: of different
 * lengths they would have different calls per sample; order=turns | rows: all trials of a case in a row instead, which shows
 * what an interval says while the machine stays as it is; limit=Infinity seconds, after which the rounds so far are judged.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const [count, repeats, limitSeconds] = [Number(args['trials'] ?? 200), Number(args['repeats'] ?? 8), Number(args['limit'] ?? Infinity)]
  const settings: MeasureSettings = { ...PRESETS.standard, maxSeconds: 2, maxWarmupSeconds: 0.1, minSeconds: Number(args['seconds'] ?? PRESETS.standard.minSeconds), verifyWork: 1e5 }
  const bed = await openBed(args)
  const from = performance.now()
  try {
    const cases = bed.devices.flatMap((device) => CASES.flatMap(({ op, params, mode, oneThread }) => {
      const c = casesOn(device, op, params, mode, oneThread)
      return c ? [{ c, gpu: device.threads.length === 0, trials: [] as Trial[] }] : []
    }))
    const lots = args['order'] === 'rows' ? cases.map((one) => [one]) : [cases]
    for (const [i, lot] of lots.entries()) {
      const endSeconds = (limitSeconds * (i + 1)) / lots.length
      for (let round = 0; round < count; round++) {
        if ((performance.now() - from) / 1000 > endSeconds && round > repeats) break
        if (round % 20 === 0) say(`${round} of ${count} rounds over ${lot.length} of ${cases.length} cases`)
        for (const { c, trials } of lot) trials.push(await trialOf(bed, c, settings))
      }
    }
    const judged = cases.map(({ c, gpu, trials }) => judge(c, trials, repeats, gpu))
    const repeated = share(judged.flatMap((one) => one.repeated))
    const overall: Figure[] = [
      { name: `intervals over ${repeats} runs that hold the median of all runs`, value: repeated, unit: '%', aim: 93, better: 'more' },
      { name: 'distance of that share from 95 %, points', value: Math.abs(repeated - 95), unit: '%', aim: 2, better: 'less' },
      { name: `intervals of one short run that hold the long-run median, all ${judged.reduce((sum, { short }) => sum + short.length, 0)} trials`, value: share(judged.flatMap(({ short }) => short)), unit: '%', published: true },
    ]
    return { figures: [...overall, ...judged.flatMap(({ figures }) => figures), loadFigure()], rows: judged.map(({ row }) => row), devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench

function casesOn(device: Device, op: string, params: (gpu: boolean) => Params, mode: Mode, oneThread = false): BenchmarkCase | undefined {
  // A page fills and checks tensors in JavaScript: large ones take it seconds.
  return caseOn(device, op, params(device.threads.length === 0 && device.backend !== 'webgpu'), mode, oneThread ? { threads: device.threads[0] } : {})
}
