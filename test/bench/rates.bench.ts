import { problemOf, type PreparedCase } from '@core/backend'
import { paramText, type BenchmarkCase, type Mode } from '@core/case'
import { tensorsOf } from '@core/ops/define'
import { getOp, OPS } from '@core/ops/registry'
import type { Op } from '@core/ops/types'
import { SEED } from '../conformance/faults'
import { geometricMean, median } from '@core/stats/descriptive'
import { everyChoice, findSizePreset } from '@core/sweep/defaults'
import { planSweep } from '@core/sweep/plan'
import type { Bench, Figure, Outcome } from './bench'
import type { Drawn } from './fuzz/draw'
import { Journal } from './journal'
import { implOf, sidesOf, type Side } from './sides'

/**
 * The kernels of a device against what bounds them:
 *   large   every operation that memory binds at 64 MB of traffic and more, cold: its rate as a share of that of a copy of as many bytes in the same run
 *   small   every operation between 64Ki and 1Mi elements, in graph mode where both sides have it, else hot: its time beside another implementation's
 *   devices=cuda:0               whose kernels
 *   beside=python:cuda:0/torch   with whom small ones are compared
 *   parts=large:60,small:60      in this order, each begins no case after so many seconds
 *   dtypes=f32,bf16              of these
 *   ops=sum,softmax              only these
 *   log=FILE                     writes each row when it is measured; the next run with the same file measures those that are missing
 */
const rates: Bench = async ({ args, say }) => {
  const [own, ...others] = (await sidesOf(args, { devices: 'cuda:0', beside: 'python:cuda:0/torch' })) as [Side, ...Side[]]
  const log = new Journal<Row>(args['log'])
  const rows: Row[] = []
  for (const word of (args['parts'] ?? 'large:60,small:60').split(',')) {
    const [part = '', seconds = '60'] = word.split(':')
    const until = performance.now() + Number(seconds) * 1000
    const cases = casesOf(part, own, (args['dtypes'] ?? 'f32,bf16').split(','), args['ops']?.split(','))
    for (const drawn of cases) {
      const name = [part, drawn.op, drawn.dtype, paramText(drawn.params)].join(' ')
      const known = log.get(name)
      if (known) rows.push(known)
      else if (performance.now() <= until && log.begin(name)) rows.push(log.add(name, await measured(part, drawn, part === 'small' ? [own, ...others] : [own])))
    }
    say(`${part}: ${rows.filter((row) => row.part === part).length} of ${cases.length} cases`)
  }
  const judged = withShares(rows)
  report(judged, say)
  return { figures: figuresOf(judged, others), rows: judged, devices: [own.device] } satisfies Outcome
}
export default rates

interface Row {
  part: string
  op: string
  dtype: string
  params: string
  bytes: number
  [column: string]: string | number | undefined
}

/** Operations that share an aim, as a share of the rate of a copy in %. Those in no group are bound by arithmetic or latency. */
const GROUPS: readonly { title: string; aim: number; has: (op: Op) => boolean }[] = [
  { title: 'element-wise, activations, dropout, copy', aim: 97, has: ({ id, family }) => id === 'copy' || ['binary', 'ternary', 'unary', 'activation', 'dropout', 'gated'].includes(family) },
  { title: 'transpose, cross_entropy', aim: 90, has: ({ id }) => id === 'transpose' || id === 'cross_entropy' },
  { title: 'reductions, dot, losses', aim: 92, has: ({ family }) => ['reduction', 'vector', 'loss'].includes(family) },
  { title: 'softmax, log_softmax, layer_norm, rms_norm', aim: 88, has: ({ id, family }) => family === 'softmax' || id === 'layer_norm' || id === 'rms_norm' },
  { title: 'backwards', aim: 85, has: ({ family }) => family === 'backward' },
  { title: 'batch_norm, group_norm, pooling', aim: 85, has: ({ id, family }) => family === 'pooling' || id === 'batch_norm' || id === 'group_norm' },
]
const groupOf = (op: string) => GROUPS.find(({ has }) => has(getOp(op)))

/** Traffic in bytes from which a rate counts, and elements between which a case is small. */
const LARGE_BYTES = 64e6
const SMALL = { from: 2 ** 16, to: 2 ** 20 }
const ROUNDS = 4
const SAMPLES = 8
/** Calls in a graph of a small case. */
const GRAPH_CALLS = 32

function casesOf(part: string, own: Side, dtypes: readonly string[], only: readonly string[] | undefined): Drawn[] {
  if (part !== 'large' && part !== 'small') throw new Error(`there is no part "${part}"; there are large and small`)
  const { kernels, id } = implOf(own)
  const picks = OPS.filter((op) => op.family !== 'composite' && (only?.includes(op.id) ?? true) && (part === 'small' || groupOf(op.id) !== undefined))
  const wanted = ['f32', 'f16', 'bf16'] as const
  const presets = part === 'large' ? ['xlarge', 'large'] : ['small']
  const cases = presets.flatMap((preset) =>
    planSweep({ ops: picks.map(everyChoice), sizes: findSizePreset(preset)!.sizes, dtypes: wanted.filter((dtype) => dtypes.includes(dtype)), modes: ['hot'], preset: 'quick', targets: [{ backend: own.device.backend, device: own.device.id, impls: [id] }] }, [own.device]).cases,
  )
  const fits = ({ op, dtype, params }: Drawn): boolean => {
    if (!kernels[op]?.includes(dtype)) return false
    const whole = getOp(op).params.parse(params)
    if (part === 'large') return getOp(op).bytes(whole, dtype) >= LARGE_BYTES
    const largest = Math.max(...tensorsOf(getOp(op), whole, dtype).map(({ elements }) => elements))
    return largest >= SMALL.from && largest <= SMALL.to
  }
  const named = new Map(cases.map(({ op, dtype, params }): [string, Drawn] => [[op, dtype, paramText(params)].join(' '), { op, dtype, params }]))
  const all = [...named.values()].filter(fits)
  // Copy first; then one case of each operation and dtype, the second of each, and so on: a run that is cut is a sample of all.
  const seen = new Map<string, number>()
  return all
    .map((one) => {
      const key = `${one.op} ${one.dtype}`
      seen.set(key, (seen.get(key) ?? -1) + 1)
      return { one, turn: one.op === 'copy' ? -1 : seen.get(key)! }
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ one }) => one)
}

/** Median times in ns of every side that takes the case. */
async function measured(part: string, drawn: Drawn, sides: readonly Side[]): Promise<Row> {
  const op = getOp(drawn.op)
  const row: Row = { part, op: drawn.op, dtype: drawn.dtype, params: paramText(drawn.params), bytes: op.bytes(op.params.parse(drawn.params), drawn.dtype) }
  const opened: { name: string; prepared: PreparedCase; ns: number[] }[] = []
  try {
    for (const side of sides) {
      const impl = implOf(side)
      if (!impl.kernels[drawn.op]?.includes(drawn.dtype)) continue
      const c: BenchmarkCase = { ...drawn, backend: side.device.backend, impl: side.impl ?? impl.id, device: side.device.id, mode: 'cold', ...(side.device.threads.length > 0 ? { threads: side.device.threads.at(-1)! } : {}) }
      const prepared = await side.backend.open(problemOf(op, c, SEED))
      opened.push({ name: side.name, prepared, ns: [] })
      await prepared.run()
    }
    const mode: Mode = part === 'large' ? 'cold' : (await haveGraphs(opened)) ? 'graph' : 'hot'
    const sampling = { mode, count: SAMPLES, inner: mode === 'cold' ? 1 : GRAPH_CALLS }
    for (let round = 0; round < ROUNDS; round++) for (const { prepared, ns } of round % 2 === 0 ? opened : opened.toReversed()) ns.push(...(await prepared.sample(sampling)).samplesNs)
    row['mode'] = mode
    for (const { name, ns } of opened) row[`${name} ns`] = Number((median(ns) ?? NaN).toFixed(1))
    return row
  } catch (thrown) {
    return { ...row, failure: thrown instanceof Error ? thrown.message : String(thrown) }
  } finally {
    for (const { prepared } of opened) await prepared.dispose().catch(() => undefined)
  }
}

/** Whether every side can be timed in a graph. */
async function haveGraphs(opened: readonly { prepared: PreparedCase }[]): Promise<boolean> {
  for (const { prepared } of opened) {
    try {
      await prepared.sample({ mode: 'graph', count: 1, inner: 2 })
    } catch {
      return false
    }
  }
  return true
}

/** Rates, and their share of the rate of a copy that moves as many bytes. Its time lies between those of the copies that were measured; beyond them their rate holds. */
function withShares(rows: readonly Row[]): Row[] {
  const copies = rows.flatMap(({ part, op, bytes, 'now ns': ns }) => (part === 'large' && op === 'copy' && typeof ns === 'number' ? [{ bytes, ns }] : [])).sort((a, b) => a.bytes - b.bytes)
  const copyNs = (bytes: number): number | undefined => {
    const above = copies.findIndex((copy) => copy.bytes >= bytes)
    const [below, next] = [copies.at(above - 1), copies[above]]
    if (above > 0) return below!.ns + ((next!.ns - below!.ns) * (bytes - below!.bytes)) / (next!.bytes - below!.bytes)
    const end = above === 0 ? next : below
    return end && (end.ns * bytes) / end.bytes
  }
  return rows.map((row) => {
    const [ns, copy] = [row['now ns'], copyNs(row.bytes)]
    return row.part === 'large' && copy !== undefined && typeof ns === 'number' ? { ...row, 'GB/s': Number((row.bytes / ns).toFixed(1)), 'of copy %': Number(((100 * copy) / ns).toFixed(1)) } : row
  })
}

const shareOf = (row: Row) => row['of copy %'] as number

function figuresOf(rows: readonly Row[], others: readonly Side[]): Figure[] {
  const large = rows.filter((row) => row.part === 'large' && row['of copy %'] !== undefined)
  const figures: Figure[] = GROUPS.flatMap(({ title, aim }) => {
    const own = large.filter((row) => groupOf(row.op)?.title === title).sort((a, b) => shareOf(a) - shareOf(b))
    if (own.length === 0) return []
    return [
      { name: `${title}: share of the copy rate, median of ${own.length} cases`, value: median(own.map(shareOf))!, unit: '%', aim, better: 'more' as const },
      { name: `${title}: lowest, ${own[0]!.op} ${own[0]!.dtype} ${own[0]!.params}`, value: shareOf(own[0]!), unit: '%', aim, better: 'more' as const },
      { name: `${title}: cases below the aim`, value: own.filter((row) => shareOf(row) < aim).length, unit: '', aim: 0, better: 'less' as const },
    ]
  })
  for (const { name } of others) {
    const ratios = rows.flatMap((row) => (row.part === 'small' && typeof row['now ns'] === 'number' && typeof row[`${name} ns`] === 'number' ? [(row[`${name} ns`] as number) / row['now ns']] : []))
    if (ratios.length === 0) continue
    figures.push(
      { name: `small, speed relative to ${name}, geometric mean of ${ratios.length} cases`, value: geometricMean(ratios) ?? NaN, unit: 'x', published: true },
      { name: `small, slower than ${name} by more than 3 %`, value: ratios.filter((ratio) => ratio < 1 / 1.03).length, unit: '', aim: 0, better: 'less' },
      { name: `small, slowest relative to ${name}`, value: Math.min(...ratios), unit: 'x', published: true },
    )
  }
  figures.push({ name: 'cases that failed', value: rows.filter((row) => row['failure'] !== undefined).length, unit: '', aim: 0, better: 'less' })
  return figures
}

/** Cases below their aim, and small ones behind the other side, the farthest first. */
function report(rows: readonly Row[], say: (text: string) => void): void {
  const named = (row: Row) => `${row.op} ${row.dtype} ${row.params}`
  for (const row of rows.filter((row) => row['failure'] !== undefined)) say(`${named(row)}: ${String(row['failure'])}`)
  const below = rows.filter((row) => row['of copy %'] !== undefined && shareOf(row) < (groupOf(row.op)?.aim ?? 0)).sort((a, b) => shareOf(a) - shareOf(b))
  for (const row of below) say(`${String(shareOf(row)).padStart(6)} % of a copy, aim ${groupOf(row.op)!.aim} %  ${named(row)}`)
  const behind = rows.flatMap((row) => (row.part === 'small' && typeof row['now ns'] === 'number' && typeof row['torch ns'] === 'number' ? [{ row, ratio: row['torch ns'] / row['now ns'] }] : []))
  for (const { row, ratio } of behind.filter(({ ratio }) => ratio < 1 / 1.03).sort((a, b) => a.ratio - b.ratio)) say(`${ratio.toFixed(2)}x  ${String(row['now ns'])} ns, PyTorch ${String(row['torch ns'])} ns, ${String(row['mode'])}  ${named(row)}`)
}
