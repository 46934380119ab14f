import { paramText } from '@core/case'
import { getOp } from '@core/ops/registry'
import { geometricMean, median } from '@core/stats/descriptive'
import type { Bench, Figure, Outcome } from './bench'
import { classOf, type Drawn } from './fuzz/draw'
import { EASY, PARTS, tableOf, type Part, type PeerTable } from './peers/cases'
import { interleaved, type Effort, type Runner } from './peers/interleaved'
import { implOf, sidesOf, type Side } from './sides'

/**
 * The CPU kernels beside NumPy, PyTorch, OpenBLAS and oneDNN, hot, interleaved in one run:
 *   parts=suite,shapes,products,convolutions,rows,threads,small   which tables (test/bench/peers/cases.ts); all where absent
 *   threads=1           of every implementation; the part `threads` compares all processors with one, and with what bare multiply-adds gain
 *   seed=N count=120 ops=a,b dtypes=f32 cases=FILE   what part `shapes` draws
 *   batch=1             images of part `convolutions`
 *   beside=python:cpu/numpy,…   with whom; those four where absent, each of which may be missing
 *   before=FILE         an addon of another build, on the same cases
 *   rounds=7 samples=5  the effort for each case
 *   seconds=N           stops after so long; the figures say how many cases were measured
 */
const cpuPeers: Bench = async ({ args, say }) => {
  const parts = (args['parts']?.split(',') ?? [...PARTS]) as Part[]
  const unknown = parts.find((part) => !PARTS.includes(part))
  if (unknown !== undefined) throw new Error(`there is no part "${unknown}"; expected ${PARTS.join(', ')}`)
  const sides = await present(args, say)
  const [own] = sides as [Side]
  const until = performance.now() + Number(args['seconds'] ?? Infinity) * 1000
  const effort = { rounds: Number(args['rounds'] ?? 7), samples: Number(args['samples'] ?? 5) }
  const figures: Figure[] = []
  const rows: Row[] = []
  for (const part of parts) {
    const table = await tableOf(part, args, implOf(own).kernels, sides.slice(1).map((side) => implOf(side).kernels))
    const found: Row[] = []
    for (const one of table.cases) {
      if (performance.now() > until) break
      const runners = part === 'threads' ? scaled(sides) : sides.filter((side) => wanted(side, table, one)).map((side) => runner(side, Number(args['threads'] ?? 1)))
      const bare = part === 'threads' ? (await interleaved(BARE, scaled([own]), BARE_EFFORT)).timed.find(({ name }) => name === ONE)?.slower : undefined
      const { timed, refused } = await interleaved(one, runners, effort)
      found.push(rowOf(part, one, table, timed, refused, bare))
    }
    figures.push(...figuresOf(part, table, found))
    report(part, table, found, say)
    rows.push(...found)
  }
  return { figures, rows, devices: sides.map(({ device }) => device).filter((device, i, all) => all.indexOf(device) === i) } satisfies Outcome
}
export default cpuPeers

type Row = Record<string, string | number | undefined>

const PEERS = ['python:cpu/numpy', 'python:cpu/torch', 'cpu/openblas', 'cpu/onednn']

/** This build and those of its peers that this machine has. */
async function present(args: Readonly<Record<string, string>>, say: (text: string) => void): Promise<Side[]> {
  const found: Side[] = []
  for (const beside of (args['beside'] ?? PEERS.join(',')).split(',').filter((word) => word !== '')) {
    try {
      const sides = await sidesOf({ devices: 'cpu', beside, ...(args['before'] !== undefined && found.length === 0 ? { before: args['before'] } : {}) }, { devices: 'cpu' })
      implOf(sides.at(-1)!)
      found.push(...(found.length === 0 ? sides : sides.slice(-1)))
    } catch (thrown) {
      if (args['beside'] !== undefined) throw thrown
      say(`${beside} is left out: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
  return found.length > 0 ? found : sidesOf({ ...args, devices: 'cpu' }, { devices: 'cpu' })
}

const runner = (side: Side, threads: number): Runner => ({ name: side.name, backend: side.backend, device: side.device.id, impl: implOf(side).id, threads })

const ONE = 'one thread'
/** The builds on all threads, and this one on one. */
const scaled = (sides: readonly Side[]): Runner[] => [...sides.filter(({ name }) => name === 'now' || name === 'before').map((side) => runner(side, side.device.threads.at(-1)!)), { ...runner(sides[0]!, 1), name: ONE }]

/** Multiply-adds without memory traffic, right before each case on all threads and on one: what the machine gives at this moment. */
const BARE: Drawn = { op: 'peak_fma', dtype: 'f32', params: getOp('peak_fma').params.parse({ n: 2 ** 14, iterations: 1024 }) }
const BARE_EFFORT: Effort = { rounds: 7, samples: 5 }

const wanted = (side: Side, table: PeerTable, { op, dtype }: Drawn): boolean =>
  side.name === 'now' || ((side.name === 'before' || [...table.against, 'torch'].includes(side.name) || side.impl === 'onednn' || side.impl === 'openblas') && (implOf(side).kernels[op]?.includes(dtype) ?? false))

/** `x NAME`: how many times as fast this build is; `x best`: as the fastest of those to beat. */
function rowOf(part: Part, { op: id, dtype, params }: Drawn, table: PeerTable, timed: Awaited<ReturnType<typeof interleaved>>['timed'], refused: Readonly<Record<string, string>>, bare?: number): Row {
  const op = getOp(id)
  const row: Row = { part, op: id, dtype, params: paramText(params), class: classOf(op, params, dtype), bytes: op.bytes(params, dtype), flops: op.flops(params) }
  for (const { name, ns, slower } of timed) {
    row[`${name} ns`] = Number(ns.toFixed(1))
    if (name !== 'now') row[`x ${name}`] = Number((1 / slower).toFixed(4))
  }
  const beaten = timed.filter(({ name }) => table.against.includes(name))
  if (beaten.length > 0) row['x best'] = Number((1 / Math.max(...beaten.map(({ slower }) => slower))).toFixed(4))
  if (bare !== undefined) row['bare gain'] = Number((1 / bare).toFixed(4))
  for (const [name, why] of Object.entries(refused)) row[`${name} refused`] = why
  return row
}

const speeds = (rows: readonly Row[], column: string): number[] => rows.flatMap((row) => (typeof row[column] === 'number' ? [row[column]] : []))

/** The speed that a case must reach, and the means that are wanted, by part. */
const AIMS: Readonly<Record<Part, { least: number; mean: Readonly<Record<string, number>> }>> = {
  suite: { least: 0.97, mean: { numpy: 2.6, torch: 2.2 } },
  shapes: { least: 0.95, mean: {} },
  products: { least: 1, mean: {} },
  convolutions: { least: 1, mean: {} },
  rows: { least: 1, mean: { torch: 2 } },
  threads: { least: 1.8, mean: {} },
  small: { least: 0.97, mean: {} },
}

function figuresOf(part: Part, table: PeerTable, rows: readonly Row[]): Figure[] {
  const { title, cases } = table
  const { least, mean } = AIMS[part]
  const names = part === 'threads' ? [ONE, ...(rows.some((row) => row['x before'] !== undefined) ? ['before'] : [])] : [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => key.startsWith('x ') && key !== 'x best').map((key) => key.slice(2))))]
  const judged = part === 'threads' ? `x ${ONE}` : 'x best'
  const better = 'more' as const
  const slow = speeds(rows, judged).filter((speed) => speed < least).length
  const ofBare = rows.flatMap((row) => (typeof row[judged] === 'number' && typeof row['bare gain'] === 'number' ? [row[judged] / row['bare gain']] : []))
  return [
    { name: `${title}: cases measured, of ${cases.length}`, value: rows.filter((row) => row['now ns'] !== undefined).length, unit: '', published: true },
    ...names.flatMap((name): Figure[] => {
      const found = speeds(rows, `x ${name}`)
      if (found.length === 0) return []
      const aim = mean[name]
      return [
        { name: `${title}: speed relative to ${name}, geometric mean of ${found.length} cases`, value: geometricMean(found)!, unit: 'x', published: true, ...(aim === undefined ? {} : { aim, better }) },
        ...(part === 'suite' && table.against.includes(name) ? [{ name: `${title}: the same without ${EASY.join(', ')}`, value: geometricMean(speeds(rows.filter((row) => !EASY.includes(String(row['op']))), `x ${name}`)) ?? NaN, unit: 'x', aim: 1.5, better, published: true }] : []),
        { name: `${title}: speed relative to ${name}, slowest case`, value: Math.min(...found), unit: 'x', published: true },
      ]
    }),
    ...(ofBare.length === 0 ? [] : [
      { name: `${title}: what bare multiply-adds gain right before each case, median`, value: median(speeds(rows, 'bare gain'))!, unit: 'x', published: true },
      { name: `${title}: speed relative to one thread as a share of that, median`, value: median(ofBare)! * 100, unit: '%', published: true },
      { name: `${title}: cases that gain less than ${least / 2} of it, of ${ofBare.length}`, value: ofBare.filter((share) => share < least / 2).length, unit: '', published: true },
    ]),
    { name: `${title}: cases below ${least}x of ${part === 'threads' ? ONE : 'the fastest peer'}, of ${speeds(rows, judged).length}`, value: slow, unit: '', aim: 0, better: 'less', published: true },
  ]
}

/** The means by class, then the slowest cases. */
function report(part: Part, { title }: PeerTable, rows: readonly Row[], say: (text: string) => void): void {
  const judged = part === 'threads' ? `x ${ONE}` : 'x best'
  say(title)
  for (const name of [...new Set(rows.map((row) => String(row[part === 'shapes' ? 'class' : 'op'])))].sort()) {
    const found = speeds(rows.filter((row) => String(row[part === 'shapes' ? 'class' : 'op']) === name), judged)
    if (found.length > 0) say(`  ${name.padEnd(52)} ${geometricMean(found)!.toFixed(2)}x, slowest ${Math.min(...found).toFixed(2)}x of ${found.length}`)
  }
  const shown = rows.filter((row) => typeof row[judged] === 'number').sort((a, b) => Number(a[judged]) - Number(b[judged]))
  for (const row of shown.slice(0, part === 'shapes' ? 20 : 12)) {
    const others = Object.keys(row).filter((key) => key.startsWith('x ') && key !== 'x best').map((key) => `${key.slice(2)} ${Number(row[key]).toFixed(2)}x`)
    say(`  ${Number(row[judged]).toFixed(3)}x  ${(Number(row['now ns']) / 1000).toFixed(2)} us  ${String(row['op'])} ${String(row['dtype'])} ${String(row['params'])}  ${others.join(' ')}`)
  }
}
