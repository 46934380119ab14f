import { performance } from 'node:perf_hooks'
import type { Device } from '@core/backend'
import type { BenchmarkCase, Mode, Params } from '@core/case'
import { measureCase } from '@core/measure/measure-case'
import { PRESETS } from '@core/measure/settings'
import { getOp } from '@core/ops/registry'
import { geometricMean } from '@core/stats/descriptive'
import { relativeInterval } from '@core/stats/summarize'
import { loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, describe, openBed, type Bed } from './proof/bed'
import { doBench, nvbench, type Spent } from './proof/other-rules'

const square = (n: number) => ({ m: n, n, k: n })
const rows = (n: number) => ({ rows: n, cols: 1024 })

/** Five operations at four sizes, small first; sizes of a GPU beside those of a processor. Twice, cold and hot: 40 cases. */
const OPS: readonly { op: string; params: (size: number) => Params; cpu: readonly number[]; gpu: readonly number[] }[] = [
  { op: 'add', params: (n) => ({ n }), cpu: [2 ** 14, 2 ** 17, 2 ** 20, 2 ** 23], gpu: [2 ** 16, 2 ** 20, 2 ** 23, 2 ** 26] },
  { op: 'exp', params: (n) => ({ n }), cpu: [2 ** 14, 2 ** 17, 2 ** 20, 2 ** 23], gpu: [2 ** 16, 2 ** 20, 2 ** 23, 2 ** 26] },
  { op: 'sum', params: (n) => ({ ...rows(n), axis: 'last' }), cpu: [16, 128, 1024, 8192], gpu: [64, 1024, 8192, 65536] },
  { op: 'softmax', params: rows, cpu: [16, 128, 1024, 4096], gpu: [64, 1024, 8192, 65536] },
  { op: 'matmul', params: square, cpu: [32, 64, 128, 256], gpu: [256, 512, 1024, 2048] },
]
const MODES: readonly Mode[] = ['cold', 'hot']

const casesOf = (device: Device): BenchmarkCase[] =>
  OPS.flatMap(({ op, params, cpu, gpu }) => (device.threads.length > 0 ? cpu : gpu).flatMap((size) => MODES.flatMap((mode) => caseOn(device, op, params(size), mode, { threads: device.threads[0] }) ?? [])))

const RULES = ['ours', 'do_bench', 'nvbench', 'nvbench as narrow'] as const
type Rule = (typeof RULES)[number]
const SETTINGS = PRESETS.standard

/** Our loop at preset standard. Its wall time is that of warm-up and sampling, as the others' is: what verification takes is kept apart. */
async function ours(c: BenchmarkCase, prepared: Awaited<ReturnType<Bed['open']>>, limitSeconds: number): Promise<Spent & { inner: number; reason: string }> {
  let from = 0
  let until = 0
  const result = await measureCase({
    op: getOp(c.op), case: c, prepared, resultId: 'proof', settings: { ...SETTINGS, maxSeconds: limitSeconds },
    onProgress: ({ phase }) => {
      if (phase === 'warming up') from = performance.now()
      if (phase === 'checking') until = performance.now()
    },
  })
  const { summary, measuredMs, inner = 1, stopReason = '' } = result
  if (result.status !== 'ok' || !summary) throw new Error(`${describe(c)} is ${result.status}: ${result.message ?? ''}`)
  const interval = summary.ciLowNs === undefined || summary.ciHighNs === undefined ? undefined : { low: summary.ciLowNs, high: summary.ciHighNs }
  return { measuredSeconds: measuredMs / 1000, wallSeconds: (until - from) / 1000, samples: summary.count!, medianNs: summary.medianNs, relativeCi: relativeInterval(interval, summary.medianNs) ?? Infinity, inner, reason: stopReason }
}

interface Row extends Spent {
  case: string
  rule: Rule
  reached: boolean
  reason: string
}

async function raceOf(bed: Bed, c: BenchmarkCase, turn: number, limitSeconds: number): Promise<Row[]> {
  const prepared = await bed.open(c, SETTINGS.seed)
  const budget = { relativeCi: SETTINGS.relativeCi, limitSeconds }
  const rowsOf: Row[] = []
  const add = (rule: Rule, spent: Spent, reason = '') => rowsOf.push({ case: describe(c), rule, ...spent, reached: spent.relativeCi <= budget.relativeCi, reason })
  try {
    // One untimed measurement gives all procedures the same start, and nvbench the calls per sample of its batches.
    const { inner } = await ours(c, prepared, 0.2)
    const procedures = [
      async () => {
        const { reason, inner: _, ...spent } = await ours(c, prepared, limitSeconds)
        add('ours', spent, reason)
      },
      async () => add('do_bench', await doBench(prepared, c.mode, budget)),
      async () => {
        const { own, narrow } = await nvbench(prepared, c.mode, c.mode === 'cold' ? 1 : inner, budget)
        add('nvbench', own)
        add('nvbench as narrow', narrow)
      },
    ]
    // Each procedure begins as often as the others.
    for (let i = 0; i < procedures.length; i++) await procedures[(i + turn) % procedures.length]!()
  } finally {
    await prepared.dispose()
  }
  return rowsOf
}

function figuresOf(device: string, all: readonly Row[]): Figure[] {
  const of = (rule: Rule) => all.filter((row) => row.rule === rule)
  const total = (list: readonly Row[], key: 'measuredSeconds' | 'wallSeconds') => list.reduce((sum, row) => sum + row[key], 0)
  const figures: Figure[] = RULES.flatMap((rule) => [
    { name: `${device} ${rule}: wall time of warm-up and sampling, ${of(rule).length} cases`, value: total(of(rule), 'wallSeconds'), unit: 's' },
    { name: `${device} ${rule}: measured time`, value: total(of(rule), 'measuredSeconds'), unit: 's' },
    { name: `${device} ${rule}: cases with an interval within ±0.5 %`, value: of(rule).filter(({ reached }) => reached).length, unit: '' },
  ])
  // Equal width: only cases in which both came to it.
  for (const [rule, aim] of [['do_bench', 0.5], ['nvbench', 0.5], ['nvbench as narrow', 0.5]] as const) {
    const pairs = of('ours').flatMap((own) => {
      const other = of(rule).find((row) => row.case === own.case)
      return own.reached && other && (other.reached || rule === 'nvbench') ? [{ own, other }] : []
    })
    const ratio = (key: 'measuredSeconds' | 'wallSeconds') => total(pairs.map(({ own }) => own), key) / total(pairs.map(({ other }) => other), key)
    figures.push(
      { name: `${device} ours over ${rule}: measured time, ${pairs.length} cases of equal width`, value: ratio('measuredSeconds'), unit: 'x', aim, better: 'less' },
      { name: `${device} ours over ${rule}: wall time with warm-up and flushes, same cases`, value: ratio('wallSeconds'), unit: 'x', aim, better: 'less' },
      { name: `${device} ours over ${rule}: wall time, geometric mean of the cases`, value: geometricMean(pairs.map(({ own, other }) => own.wallSeconds / other.wallSeconds)) ?? NaN, unit: 'x', published: true },
      { name: `${device} ours slower than ${rule}: cases`, value: pairs.filter(({ own, other }) => own.wallSeconds > other.wallSeconds).length, unit: '' },
    )
  }
  return figures
}

/**
 * How long it takes until the median is known to ±0.5 %: our loop at preset standard, and on the same prepared cases the
 * rules of do_bench and nvbench (proof/other-rules.ts), 40 cases, cold and hot, one thread on a processor.
 * devices=cpu | cuda:0; limit=15 seconds of a case and rule; every=1 takes only each n-th case (odd, or one mode is left out).
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const bed = await openBed(args)
  try {
    const rowsOut: Row[] = []
    const figures: Figure[] = []
    for (const device of bed.devices) {
      const cases = casesOf(device).filter((_, i) => i % Number(args['every'] ?? 1) === 0)
      const mine: Row[] = []
      for (const [i, c] of cases.entries()) {
        if (i % 8 === 0) say(`${device.id}: ${i} of ${cases.length} cases`)
        mine.push(...(await raceOf(bed, c, i, Number(args['limit'] ?? SETTINGS.maxSeconds))))
      }
      figures.push(...figuresOf(device.id, mine))
      rowsOut.push(...mine.map((row) => ({ ...row, case: `${device.id} ${row.case}` })))
    }
    return { figures: [...figures, loadFigure()], rows: rowsOut.map((row) => ({ ...row })), devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench
