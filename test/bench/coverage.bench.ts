import { readFileSync } from 'node:fs'
import type { BenchmarkCase, Mode, Params } from '@core/case'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { loadFigure, type Bench, type Outcome, type BenchRecord } from './bench'
import { caseOn, describe, isGpu, openBed, type Bed } from './proof/bed'
import { coverageFigures, rowOf, runsOf, type CoverageRow, type Order, type Runs } from './proof/coverage'

/** Cases of different noise: a chain without memory, caches, memory, many threads. */
const CASES: readonly { op: string; params: (gpu: boolean) => Params; mode: Mode; oneThread?: boolean }[] = [
  { op: 'spin', params: () => ({ iterations: 20_000 }), mode: 'hot', oneThread: true },
  { op: 'add', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 16 }), mode: 'hot', oneThread: true },
  { op: 'softmax', params: (gpu) => ({ rows: gpu ? 8192 : 256, cols: 1024 }), mode: 'hot' },
  { op: 'exp', params: (gpu) => ({ n: gpu ? 2 ** 24 : 2 ** 18 }), mode: 'cold', oneThread: true },
]
const ORDERS: readonly Order[] = ['rows', 'turns']

interface Run {
  medianNs: number
  low: number
  high: number
  widened: number
  grade: string
}

/** The runs of one case while they are made. */
class Growing {
  readonly #runs: Run[] = []

  constructor(
    readonly c: BenchmarkCase,
    readonly order: Order,
  ) {}

  async add(bed: Bed, settings: MeasureSettings): Promise<void> {
    const { summary, grade = '?' } = await bed.measure(this.c, settings, true)
    if (summary?.ciLowNs === undefined || summary.ciHighNs === undefined) throw new Error(`${describe(this.c)}: a measurement of ${summary?.count ?? 0} samples has no interval`)
    this.#runs.push({ medianNs: summary.medianNs, low: summary.ciLowNs, high: summary.ciHighNs, widened: summary.ciWidened ?? 1, grade })
  }

  get runs(): Runs {
    const of = <T>(pick: (run: Run) => T) => this.#runs.map(pick)
    return { name: `${this.c.device} ${describe(this.c)}`, order: this.order, mediansNs: of((run) => run.medianNs), grades: of((run) => run.grade).join(''), lowsNs: of((run) => run.low), highsNs: of((run) => run.high), widened: of((run) => run.widened) }
  }
}

/** Judges the runs that an earlier result keeps. */
function again(file: string, repeats: number): Outcome {
  const record = JSON.parse(readFileSync(file, 'utf8')) as BenchRecord & { rows: CoverageRow[] }
  const all = record.rows.map(runsOf)
  return { record, figures: coverageFigures(all, repeats, !all.some(({ name }) => name.startsWith('cpu'))), rows: all.map(rowOf) }
}

/**
 * Whether 95 % CIs hold the truth, which for any run is the median of all other runs of its case: a long run of the
 * very same procedure. Judged apart for single short runs by the stopping rule, and for intervals over `repeats` of them, whose unit is
 * the run. What is claimed of those is claimed of runs that are independent: at random moments of the bench.
 * order=rows measures a case again and again by itself, order=turns goes round all cases, as the repeats of a sweep do; both
 * by default. devices=cpu | cuda:0 | webgpu:0; trials=200 runs of each case and order; repeats=8; seconds=0.05 of a run at least;
 * limit=Infinity seconds, after which what there is is judged; from=FILE judges the runs of an earlier result again.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const [count, repeats, limitSeconds] = [Number(args['trials'] ?? 200), Number(args['repeats'] ?? 8), Number(args['limit'] ?? Infinity)]
  if (args['from'] !== undefined) return again(args['from'], repeats)
  const settings: MeasureSettings = { ...PRESETS.standard, maxSeconds: 2, maxWarmupSeconds: 0.1, minSeconds: Number(args['seconds'] ?? PRESETS.standard.minSeconds), verifyWork: 1e7 }
  const bed = await openBed(args)
  const from = performance.now()
  try {
    const cases = bed.devices.flatMap((device) => CASES.flatMap(({ op, params, mode, oneThread }) => caseOn(device, op, params(isGpu(device)), mode, oneThread ? { threads: device.threads[0] } : {}) ?? []))
    const lots = ORDERS.filter((order) => args['order'] === undefined || args['order'] === order).flatMap((order) => {
      const all = cases.map((c) => new Growing(c, order))
      return order === 'rows' ? all.map((one) => [one]) : [all]
    })
    const total = lots.reduce((sum, lot) => sum + lot.length, 0)
    let shares = 0
    for (const lot of lots) {
      shares += lot.length
      const endSeconds = (limitSeconds * shares) / total
      for (let round = 0; round < count; round++) {
        if ((performance.now() - from) / 1000 > endSeconds && round > 2 * repeats) break
        if (round % 50 === 0) say(`${lot[0]!.order}: ${round} of ${count} runs of ${lot.map(({ c }) => describe(c)).join(', ')}`)
        for (const one of lot) await one.add(bed, settings)
      }
    }
    const all = lots.flat().map(({ runs }) => runs)
    return { figures: [...coverageFigures(all, repeats, bed.devices.every(isGpu)), loadFigure()], rows: all.map(rowOf), devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench
