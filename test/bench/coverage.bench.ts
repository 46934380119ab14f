import type { BenchmarkCase, Mode, Params } from '@core/case'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import type { Interval } from '@core/stats/bootstrap'
import { overRuns } from '@core/stats/over-runs'
import { median, quantile } from '@core/stats/quantile'
import { createRandom } from '@core/stats/random'
import { standardDeviation } from '@core/stats/spread'
import { listed, loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, describe, isGpu, openBed, type Bed } from './proof/bed'

/** Cases of different noise: a chain without memory, caches, memory, many threads. */
const CASES: readonly { op: string; params: (gpu: boolean) => Params; mode: Mode; oneThread?: boolean }[] = [
  { op: 'spin', params: () => ({ iterations: 20_000 }), mode: 'hot', oneThread: true },
  { op: 'add', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 16 }), mode: 'hot', oneThread: true },
  { op: 'softmax', params: (gpu) => ({ rows: gpu ? 8192 : 256, cols: 1024 }), mode: 'hot' },
  { op: 'exp', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 18 }), mode: 'cold', oneThread: true },
]
/** Shuffles of the rounds, and their seed. */
const DRAWS = 25
const SEED = 0x5eed

/** One short measurement, with a slice of the long run after it. */
interface Trial extends Interval {
  medianNs: number
  count: number
  converged: boolean
  /** A, B or C as the result was graded; an A promises that its interval can be trusted. */
  grade: string
  /** How many times wider the interval is than for independent samples. */
  widened: number
  /** The interval before that. */
  narrow: Interval
  /** Smallest difference the timer can show per call: an interval knows nothing finer. */
  resolutionNs: number
  slice: readonly number[]
}

async function trialOf(bed: Bed, c: BenchmarkCase, settings: MeasureSettings): Promise<Trial> {
  const { summary, converged = false, grade = '?', tickNs = 0, inner = 1 } = await bed.measure(c, settings, true)
  if (summary?.ciLowNs === undefined || summary.ciHighNs === undefined) throw new Error(`${describe(c)}: a measurement of ${summary?.count ?? 0} samples has no interval`)
  const { medianNs, ciLowNs: low, ciHighNs: high, ciWidened: widened = 1 } = summary
  const unwidened = (bound: number) => medianNs * (bound / medianNs) ** (1 / widened)
  const slice = await bed.measure(c, { ...settings, rule: { id: 'fixed-time', seconds: settings.minSeconds } }, true)
  return { low, high, medianNs, count: summary.count!, converged, grade, widened, narrow: { low: unwidened(low), high: unwidened(high) }, resolutionNs: tickNs / inner, slice: slice.samplesNs }
}

const holds = ({ low, high }: Interval, value: number, resolutionNs: number) => low - resolutionNs / 2 <= value && value <= high + resolutionNs / 2
const share = (hits: readonly boolean[]) => (hits.filter(Boolean).length / hits.length) * 100

interface Judged {
  figures: Figure[]
  row: Record<string, string | number>
  /** Of the intervals over runs at random moments, evenly over the bench and in a row, and of the short runs: whether each held its truth. */
  drawn: boolean[]
  evenly: boolean[]
  inARow: boolean[]
  short: boolean[]
}

/** Every `repeats` rounds in a row. */
const rowsOf = (rounds: number, repeats: number) => Array.from({ length: Math.max(0, rounds - repeats + 1) }, (_, i) => Array.from({ length: repeats }, (_, k) => i + k))

/** One round from each of `repeats` equal stretches of the bench, s rounds long: i, i + s, i + 2 s and so on. Over slow drift such windows are all alike, and hold more than 95 % of truths. */
function evenlyOf(rounds: number, repeats: number): number[][] {
  const s = Math.floor(rounds / repeats)
  return Array.from({ length: s }, (_, i) => Array.from({ length: repeats }, (_, k) => i + k * s))
}

/** Rounds at random moments of the bench, in the order drawn: all of them shuffled and cut into windows, DRAWS times. */
function drawnOf(rounds: number, repeats: number): number[][] {
  const random = createRandom(SEED)
  return Array.from({ length: DRAWS }, () => {
    const shuffled = Array.from({ length: rounds }, (_, i) => ({ i, at: random() })).sort((a, b) => a.at - b.at).map(({ i }) => i)
    return Array.from({ length: Math.floor(rounds / repeats) }, (_, w) => shuffled.slice(w * repeats, (w + 1) * repeats))
  }).flat()
}

/** Whether the intervals over the runs of these windows, whose unit is the run, hold the median of all runs. */
function overRounds(trials: readonly Trial[], windows: readonly number[][]): boolean[] {
  const truth = median(trials.map(({ medianNs }) => medianNs))!
  const resolutionNs = median(trials.map((trial) => trial.resolutionNs))!
  return windows.map((window) => {
    const { median: middle, interval } = overRuns(window.map((i) => trials[i]!.medianNs))!
    return holds(interval ?? { low: middle, high: middle }, truth, resolutionNs)
  })
}

function judge(c: BenchmarkCase, trials: readonly Trial[], repeats: number, gpu: boolean): Judged {
  const truth = median(trials.flatMap(({ slice }) => slice))!
  const short = trials.map((trial) => holds(trial, truth, trial.resolutionNs))
  const drawn = overRounds(trials, drawnOf(trials.length, repeats))
  const evenly = overRounds(trials, evenlyOf(trials.length, repeats))
  const inARow = overRounds(trials, rowsOf(trials.length, repeats))
  const graded = short.filter((_, i) => trials[i]!.grade === 'A')
  const narrow = share(trials.map((trial) => holds(trial.narrow, truth, trial.resolutionNs)))
  const halfWidth = median(trials.map(({ low, high }) => (high - low) / 2))!
  // Two independent samples of the same size differ by what the interval says; the rest of the spread is between runs.
  const between = standardDeviation(trials.map(({ medianNs }) => medianNs))!
  const expected = Math.max(halfWidth, median(trials.map(({ resolutionNs }) => resolutionNs / 2))!) / 1.96
  const widened = trials.map((trial) => trial.widened)
  const name = `${c.device} ${describe(c)}`
  return {
    drawn,
    evenly,
    inARow,
    short,
    figures: [
      { name: `${name}: intervals over ${repeats} runs at random moments that hold the median of all runs`, value: share(drawn), unit: '%', published: true },
      { name: `${name}: of ${repeats} runs in a row`, value: share(inARow), unit: '%', published: true },
      { name: `${name}: intervals of one short run that hold the long-run median, of ${trials.length}`, value: share(short), unit: '%', ...(gpu ? { aim: 93, better: 'more' as const } : { published: true }) },
      { name: `${name}: the same without widening for samples that depend on each other`, value: narrow, unit: '%', published: true },
      ...(graded.length > 0 ? [{ name: `${name}: of those short runs graded A, ${graded.length} of ${trials.length}`, value: share(graded), unit: '%', published: true }] : []),
      { name: `${name}: widening, 95th percentile`, value: quantile(widened, 0.95)!, unit: 'x' },
      { name: `${name}: spread of the short runs over what their intervals say (1 = all noise is within a run)`, value: between / expected, unit: 'x', published: true },
    ],
    row: { case: name, trials: trials.length, truthNs: truth, short: share(short), narrow, drawn: share(drawn), evenly: share(evenly), inARow: share(inARow), halfWidthPercent: (halfWidth / truth) * 100, betweenPercent: (between / truth) * 100, widenedMedian: median(widened)!, widenedP95: quantile(widened, 0.95)!, resolutionPercent: (median(trials.map(({ resolutionNs }) => resolutionNs))! / truth) * 100, medianSamples: median(trials.map(({ count }) => count))!, converged: trials.filter(({ converged }) => converged).length, longRunSamples: trials.reduce((sum, { slice }) => sum + slice.length, 0), grades: trials.map(({ grade }) => grade).join(''), mediansNs: listed(trials.map(({ medianNs }) => medianNs)), sliceMediansNs: listed(trials.map(({ slice }) => median(slice)!)) },
  }
}

/**
 * Whether 95 % intervals hold the truth, judged apart for one short run (truth: the median of a long run whose slices lie
 * between the trials) and for intervals over `repeats` runs, whose unit is the run (truth: the median of all runs). What is
 * claimed of those is claimed of runs that are independent: at random moments of the bench. Evenly spread ones and
 * those in a row are published beside it. Rounds go over all cases by turns, as the repeats of a sweep do.
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
      const c = caseOn(device, op, params(isGpu(device)), mode, oneThread ? { threads: device.threads[0] } : {})
      return c ? [{ c, gpu: isGpu(device), trials: [] as Trial[] }] : []
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
    const drawn = share(judged.flatMap((one) => one.drawn))
    const overall: Figure[] = [
      { name: `intervals over ${repeats} runs at random moments of the bench that hold the median of all runs`, value: drawn, unit: '%', aim: 93, better: 'more' },
      { name: 'distance of that share from 95 %, points', value: Math.abs(drawn - 95), unit: '%', aim: 2, better: 'less' },
      { name: `intervals over ${repeats} runs evenly over the bench that hold it, of ${judged.reduce((sum, { evenly }) => sum + evenly.length, 0)}`, value: share(judged.flatMap((one) => one.evenly)), unit: '%', published: true },
      { name: `intervals over ${repeats} runs in a row that hold it`, value: share(judged.flatMap((one) => one.inARow)), unit: '%', published: true },
      { name: `intervals of one short run that hold the long-run median, all ${judged.reduce((sum, { short }) => sum + short.length, 0)} trials`, value: share(judged.flatMap(({ short }) => short)), unit: '%', published: true },
    ]
    return { figures: [...overall, ...judged.flatMap(({ figures }) => figures), loadFigure()], rows: judged.map(({ row }) => row), devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench
