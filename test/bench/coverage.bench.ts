import type { Device } from '@core/backend'
import type { BenchmarkCase, Mode, Params } from '@core/case'
import { serialFactor } from '@core/compare/serial'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { summarize } from '@core/stats/summarize'
import { median } from '@core/stats/quantile'
import { standardDeviation } from '@core/stats/spread'
import { studentQuantile } from '@core/stats/student'
import { loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, describe, openBed, type Bed } from './proof/bed'

/** Cases of different noise: a chain without memory, caches, memory, many threads. */
const CASES: readonly { op: string; params: (gpu: boolean) => Params; mode: Mode; oneThread?: boolean }[] = [
  { op: 'spin', params: () => ({ iterations: 20_000 }), mode: 'hot', oneThread: true },
  { op: 'add', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 16 }), mode: 'hot', oneThread: true },
  { op: 'softmax', params: (gpu) => ({ rows: gpu ? 8192 : 256, cols: 1024 }), mode: 'hot' },
  { op: 'exp', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 18 }), mode: 'cold', oneThread: true },
]
/** Trials on each side of a trial whose long-run slices make the local truth: slow drift is the same in all of them. */
const NEIGHBOURS = 10

interface Trial {
  low: number
  high: number
  medianNs: number
  count: number
  converged: boolean
  /** Smallest difference the timer can show per call: an interval knows nothing finer. */
  resolutionNs: number
  /** How many times wider the interval is where neighbouring samples depend on each other, as comparisons widen it; 1 where they do not. */
  serial: number
}

const NORMAL_975 = 1.959964

function serialStretch(samplesNs: readonly number[], { low, high, medianNs }: Pick<Trial, 'low' | 'high' | 'medianNs'>): number {
  const serial = serialFactor(samplesNs, ((high - low) / 2 / NORMAL_975 / medianNs) ** 2)
  return serial ? (serial.factor * studentQuantile(0.025, serial.batches - 1)) / NORMAL_975 : 1
}

/** `count` fresh short measurements by the stopping rule, each followed by a slice of the long run. */
async function trialsOf(bed: Bed, c: BenchmarkCase, count: number, settings: MeasureSettings) {
  const trials: Trial[] = []
  const slices: number[][] = []
  const slice: MeasureSettings = { ...settings, rule: { id: 'fixed-time', seconds: settings.minSeconds } }
  for (let i = 0; i < count; i++) {
    const { summary, converged, samplesNs, tickNs = 0, inner = 1 } = await bed.measure(c, settings, true)
    if (summary?.ciLowNs === undefined || summary.ciHighNs === undefined) throw new Error(`${describe(c)}: a measurement of ${summary?.count ?? 0} samples has no interval`)
    const interval = { low: summary.ciLowNs, high: summary.ciHighNs, medianNs: summary.medianNs }
    trials.push({ ...interval, serial: serialStretch(samplesNs, interval), count: summary.count!, converged: converged ?? false, resolutionNs: tickNs / inner })
    slices.push((await bed.measure(c, slice, true)).samplesNs)
  }
  return { trials, slices }
}

const holds = ({ low, high, resolutionNs }: Trial, value: number) => low - resolutionNs / 2 <= value && value <= high + resolutionNs / 2

const widened = (trial: Trial): Trial => ({ ...trial, low: trial.medianNs - (trial.medianNs - trial.low) * trial.serial, high: trial.medianNs + (trial.high - trial.medianNs) * trial.serial })

interface Judged {
  figures: Figure[]
  row: Record<string, string | number>
  held: number
}

function judge(c: BenchmarkCase, { trials, slices }: Awaited<ReturnType<typeof trialsOf>>): Judged {
  const truth = median(slices.flat())!
  const local = trials.map((_, i) => median(slices.slice(Math.max(0, i - NEIGHBOURS), i + NEIGHBOURS + 1).flat())!)
  const held = trials.filter((trial) => holds(trial, truth)).length
  const covered = (held / trials.length) * 100
  const coveredLocally = (trials.filter((trial, i) => holds(trial, local[i]!)).length / trials.length) * 100
  const halfWidth = median(trials.map(({ low, high }) => (high - low) / 2))!
  const coveredSerially = (trials.filter((trial) => holds(widened(trial), truth)).length / trials.length) * 100
  // Two independent samples of the same size differ by what the interval says; the rest of the spread is between runs.
  const between = standardDeviation(trials.map(({ medianNs }) => medianNs))!
  const expected = Math.max(halfWidth, median(trials.map(({ resolutionNs }) => resolutionNs / 2))!) / 1.96
  const drift = standardDeviation(local)!
  const name = `${c.device} ${describe(c)}`
  return {
    held,
    figures: [
      { name: `${name}: intervals that hold the long-run median, of ${trials.length}`, value: covered, unit: '%', aim: 93, better: 'more' },
      { name: `${name}: intervals that hold the median of the long run around them`, value: coveredLocally, unit: '%' },
      { name: `${name}: intervals that hold it once widened for samples that depend on each other, as comparisons do`, value: coveredSerially, unit: '%', published: true },
      { name: `${name}: spread of the medians over what their intervals say (1 = all noise is within a measurement)`, value: between / expected, unit: 'x' },
      { name: `${name}: slow drift of the long run over the same`, value: drift / expected, unit: 'x' },
    ],
    row: { case: name, trials: trials.length, truthNs: truth, covered, coveredLocally, coveredSerially, halfWidthPercent: (halfWidth / truth) * 100, betweenPercent: (between / truth) * 100, driftPercent: (drift / truth) * 100, medianSamples: median(trials.map(({ count }) => count))!, converged: trials.filter(({ converged }) => converged).length, longRunSamples: slices.reduce((sum, s) => sum + s.length, 0), longRunMadPercent: ((summarize(slices.flat())?.madNs ?? 0) / truth) * 100 },
  }
}

/**
 * Whether 95 % intervals hold the truth: the median of a long run whose slices lie between the trials, so that both saw
 * the same machine. devices=cpu | cuda:0; trials=200; seconds=0.05 of a trial at least, and of a slice: of different
 * lengths they would have different calls per sample.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const count = Number(args['trials'] ?? 200)
  const settings: MeasureSettings = { ...PRESETS.standard, maxSeconds: 2, maxWarmupSeconds: 0.1, minSeconds: Number(args['seconds'] ?? PRESETS.standard.minSeconds), verifyWork: 1e5 }
  const bed = await openBed(args)
  try {
    const figures: Figure[] = []
    const rows: Record<string, string | number>[] = []
    let held = 0
    for (const device of bed.devices) {
      for (const { op, params, mode, oneThread } of CASES) {
        const c = casesOn(device, op, params, mode, oneThread)
        if (!c) continue
        say(`${device.id}: ${describe(c)}, ${count} trials`)
        const judged = judge(c, await trialsOf(bed, c, count, settings))
        figures.push(...judged.figures)
        rows.push(judged.row)
        held += judged.held
      }
    }
    const all = rows.length * count
    const overall: Figure[] = [
      { name: `intervals that hold the long-run median, all ${all} trials`, value: (held / all) * 100, unit: '%', aim: 93, better: 'more' },
      { name: 'distance of that share from 95 %, points', value: Math.abs((held / all) * 100 - 95), unit: '%', aim: 2, better: 'less' },
    ]
    return { figures: [...overall, ...figures, loadFigure()], rows, devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench

function casesOn(device: Device, op: string, params: (gpu: boolean) => Params, mode: Mode, oneThread = false): BenchmarkCase | undefined {
  return caseOn(device, op, params(device.threads.length === 0), mode, oneThread ? { threads: device.threads[0] } : {})
}
