import { problemOf, type PreparedCase } from '@core/backend'
import { paramText, type BenchmarkCase } from '@core/case'
import { tensorsOf } from '@core/ops/define'
import { OPS, getOp } from '@core/ops/registry'
import { geometricMean, median } from '@core/stats/descriptive'
import { faultsOf, SEED } from '../conformance/faults'
import type { Bench, Figure, Outcome } from './bench'
import { BOUNDS, classOf, drawCases, type Drawn } from './fuzz/draw'
import { inShare, readCases } from './fuzz/list'
import { Journal } from './journal'
import { implOf, sidesOf, type Side } from './sides'

/**
 * Compares the kernels of a device with PyTorch and others on shapes that were never tuned for, cold, interleaved in one run:
 *   seed=N count=300             which cases (test/bench/fuzz/draw.ts), and how many
 *   cases=FILE                   these instead, a list of { op, dtype, params }
 *   devices=cuda:0               whose kernels; also cpu
 *   beside=python:cuda:0/torch,python:cuda:0/torch.compile,python:cuda:0/triton   with whom; PyTorch eager on the same device where absent
 *   before=FILE                  an addon of another build, on the same cases
 *   seconds=N                    begins no case after so long; the figures say how many cases were measured
 *   part=open share=K/N          opens every N-th case from number K on all sides but the first, so that compilers fill their caches; times nothing
 *   log=FILE                     writes each row when it is measured; the next run with the same file measures those that are missing
 *   ops=sum,softmax              only these
 *   elements=N                   most elements of a tensor; 2^28 where absent
 *   verify=N                     work of the check of each case before timing (multiply-adds); 0: none
 *   checked=N                    most elements of a tensor of a case that is checked; 2^22 where absent
 * A case that fails its check, or that a side refuses, is in the rows with the reason and in no mean.
 */
const shapeFuzz: Bench = async ({ args, say }) => {
  const device = args['devices'] ?? 'cuda:0'
  const sides = await sidesOf(args, { devices: device, beside: `python:${device}/torch` })
  const [own, ...others] = sides as [Side, ...Side[]]
  const peer = others.find(({ name }) => name !== 'before')
  if (!peer) throw new Error('shape-fuzz compares with another implementation: name one with beside=')
  const bounds = { ...BOUNDS, elements: Number(args['elements'] ?? BOUNDS.elements) }
  const named = args['cases'] === undefined ? undefined : readCases(args['cases'])
  const cases = named ?? drawCases(Number(args['seed'] ?? 1), Number(args['count'] ?? 300), drawable(own, peer, args['ops']?.split(',')), bounds)
  const until = performance.now() + Number(args['seconds'] ?? Infinity) * 1000
  if (args['part'] === 'open') return { figures: [{ name: 'cases opened', value: await openAll(cases, others, args['share'], until), unit: '' }], devices: [own.device, peer.device] }
  const log = new Journal<Row>(args['log'])
  sameAsBegun(log, { commit: process.env['OPSCOPE_COMMIT'] ?? '', drawn: args['cases'] ?? `seed ${args['seed'] ?? 1}, ${cases.length} cases`, ...Object.fromEntries(sides.map((side) => [side.name, `${side.device.id} ${implOf(side).id}, ${side.device.name}`])) })
  const rows: Row[] = []
  for (const drawn of cases) {
    const named = { op: drawn.op, dtype: drawn.dtype, params: paramText(drawn.params) }
    const name = Object.values(named).join(' ')
    const known = log.get(name)
    if (known) rows.push(known)
    else if (performance.now() <= until) rows.push(log.begin(name) ? log.add(name, await measured(drawn, sides, { work: Number(args['verify'] ?? VERIFY_WORK), elements: Number(args['checked'] ?? VERIFY_ELEMENTS) })) : { ...named, 'now refused': 'an earlier run was ended in this case' })
  }
  report(rows, own, others, say)
  return { figures: figuresOf(rows, cases.length, others), rows, devices: [own.device, peer.device] } satisfies Outcome
}
export default shapeFuzz

/** A bounded check: the whole suite of shapes is that of kernels.bench.ts. */
const VERIFY_WORK = 2e5
/** Larger tensors are timed unchecked: references of a whole reduction would take seconds each. */
const VERIFY_ELEMENTS = 2 ** 22
/** Rounds, and samples of a side in each. */
const ROUNDS = 4
const SAMPLES = 8
/** Samples of one call are fewer where it lasts longer than this in ns, and one is enough where it lasts longer than that: PyTorch's sums of
 * 16 bits into few places take seconds. */
const [LONG, VERY_LONG] = [5e6, 5e8]

type Row = Record<string, string | number | undefined>

/** Rows of other cases, sides or builds do not belong into one table. */
function sameAsBegun(log: Journal<Row>, facts: Readonly<Record<string, string>>): void {
  const begun = log.get('begun with') ?? log.add('begun with', facts)
  const other = Object.keys({ ...begun, ...facts }).find((name) => begun[name] !== facts[name])
  if (other !== undefined) throw new Error(`shape-fuzz: the log was begun with ${other} ${begun[other] ?? 'absent'}, and this run has ${facts[other] ?? 'none'}: name another file`)
}

/** Aims for the geometric mean of the speedups over other implementations. */
const SPEED_AIMS: Readonly<Record<string, number>> = { torch: 1.6, 'torch.compile': 1.15, triton: 1 }

/** Slower than a peer: by more than 3 % and by more than 1 us. */
const isSlower = (own: number, other: number): boolean => own > other * 1.03 && own > other + 1000

/** Operations and dtypes that both sides have kernels for. */
function drawable(own: Side, peer: Side, only: readonly string[] | undefined) {
  const [mine, theirs] = [implOf(own).kernels, implOf(peer).kernels]
  // A composite is drawn where it is named: its check takes seconds.
  return OPS.filter(({ id, family }) => only?.includes(id) ?? family !== 'composite').flatMap((op) => {
    const dtypes = op.dtypes.filter((dtype) => mine[op.id]?.includes(dtype) && theirs[op.id]?.includes(dtype))
    return dtypes.length > 0 ? [{ op, dtypes }] : []
  })
}

const caseOf = ({ op, dtype, params }: Drawn, { device, impl }: Side, chosen: string): BenchmarkCase => ({
  op, params, dtype, backend: device.backend, impl: impl ?? chosen, device: device.id, mode: 'cold', ...(device.threads.length > 0 ? { threads: device.threads.at(-1)! } : {}),
})

/** Compiles what sides other than ours compute with, as one of several processes; how many cases were opened in time. */
async function openAll(cases: readonly Drawn[], sides: readonly Side[], share: string | undefined, until: number): Promise<number> {
  let opened = 0
  for (const drawn of cases.filter(inShare(share))) {
    for (const side of sides) {
      const impl = implOf(side)
      if (performance.now() > until) return opened
      if (!impl.kernels[drawn.op]?.includes(drawn.dtype)) continue
      // What a side refuses shows when it is timed.
      const prepared = await side.backend.open(problemOf(getOp(drawn.op), caseOf(drawn, side, impl.id), SEED)).catch(() => undefined)
      await prepared?.run().catch(() => undefined)
      await prepared?.dispose().catch(() => undefined)
    }
    opened++
  }
  return opened
}

const textOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

/** Median cold times in ns of every side that takes the case. */
async function measured(drawn: Drawn, sides: readonly Side[], verify: { work: number; elements: number }): Promise<Row> {
  const op = getOp(drawn.op)
  const row: Row = { op: drawn.op, dtype: drawn.dtype, params: paramText(drawn.params), class: classOf(op, drawn.params, drawn.dtype), bytes: op.bytes(drawn.params, drawn.dtype), flops: op.flops(drawn.params) }
  const largest = Math.max(...tensorsOf(op, drawn.params, drawn.dtype).map(({ elements }) => elements))
  const opened: { name: string; prepared: PreparedCase; ns: number[] }[] = []
  try {
    for (const [place, side] of sides.entries()) {
      const impl = implOf(side)
      if (!impl.kernels[drawn.op]?.includes(drawn.dtype)) continue
      const c = caseOf(drawn, side, impl.id)
      try {
        if (place === 0 && verify.work > 0 && largest <= verify.elements) {
          const [fault] = await faultsOf(side.backend, op, c, verify.work, true)
          if (fault !== undefined) return { ...row, failure: fault }
        }
        const prepared = await side.backend.open(problemOf(op, c, SEED))
        opened.push({ name: side.name, prepared, ns: [] })
        await prepared.run()
        const [first = 0] = (await prepared.sample({ mode: 'cold', count: 1, inner: 1 })).samplesNs
        if (first > VERY_LONG) opened.at(-1)!.ns.push(first)
        else await prepared.sample({ mode: 'hot', count: 2, inner: 2 })
      } catch (thrown) {
        row[`${side.name} refused`] = textOf(thrown)
        if (place === 0) return row
        if (opened.at(-1)?.name === side.name) await opened.pop()!.prepared.dispose().catch(() => undefined)
      }
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const { prepared, ns } of turns(opened, round).filter((side) => !((side.ns[0] ?? 0) > VERY_LONG))) ns.push(...(await prepared.sample({ mode: 'cold', count: (ns[0] ?? 0) > LONG ? 1 : SAMPLES, inner: 1 })).samplesNs)
    }
    for (const { name, ns } of opened) row[`${name} ns`] = Number((median(ns) ?? NaN).toFixed(1))
    return row
  } catch (thrown) {
    return { ...row, failure: textOf(thrown) }
  } finally {
    for (const { prepared } of opened) await prepared.dispose().catch(() => undefined)
  }
}

/** a b c, c b a, b c a, a c b, ...: no side is always first or always between two others. */
function turns<T>(sides: readonly T[], round: number): T[] {
  const from = Math.floor(round / 2) % sides.length
  const order = [...sides.slice(from), ...sides.slice(0, from)]
  return round % 2 === 0 ? order : order.reverse()
}

interface Pair {
  row: Row
  own: number
  other: number
}

const pairsWith = (rows: readonly Row[], name: string): Pair[] =>
  rows.flatMap((row) => {
    const [own, other] = [row['now ns'], row[`${name} ns`]]
    return typeof own === 'number' && typeof other === 'number' ? [{ row, own, other }] : []
  })

const speedup = (pairs: readonly Pair[]): number => geometricMean(pairs.map(({ own, other }) => other / own)) ?? NaN

function figuresOf(rows: readonly Row[], drawn: number, others: readonly Side[]): Figure[] {
  return [
    { name: `cases measured, of ${drawn} drawn`, value: rows.filter((row) => row['now ns'] !== undefined).length, unit: '', published: true },
    { name: 'cases that failed their check', value: rows.filter((row) => row['failure'] !== undefined).length, unit: '', aim: 0, better: 'less' },
    ...others.flatMap(({ name }) => {
      const pairs = pairsWith(rows, name)
      if (pairs.length === 0) return []
      const aim = SPEED_AIMS[name]
      return [
        { name: `speed relative to ${name}, geometric mean of ${pairs.length} cases`, value: speedup(pairs), unit: 'x', published: true, ...(aim === undefined ? {} : { aim, better: 'more' as const }) },
        { name: `slower than ${name} by more than 3 % and 1 us`, value: (100 * pairs.filter(({ own, other }) => isSlower(own, other)).length) / pairs.length, unit: '%', published: true, ...(name === 'torch' ? { aim: 0, better: 'less' as const } : {}) },
        { name: `speed relative to ${name}, slowest case`, value: Math.min(...pairs.map(({ own, other }) => other / own)), unit: 'x', published: true },
      ]
    }),
  ]
}

/** Per class the means, then the ten cases farthest behind the first peer. */
function report(rows: readonly Row[], own: Side, others: readonly Side[], say: (text: string) => void): void {
  for (const row of rows) if (row['failure'] !== undefined || row['now refused'] !== undefined) say(`${String(row['op'])} ${String(row['dtype'])} ${String(row['params'])}: ${String(row['failure'] ?? row['now refused'])}`)
  const classes = [...new Set(rows.map((row) => String(row['class'])))].sort()
  say(`speed of ${own.device.id} relative to: ${others.map(({ name }) => name).join(', ')} (geometric mean, slowest, cases slower by more than 3 % and 1 us)`)
  for (const name of classes) {
    const own = rows.filter((row) => row['class'] === name)
    const cells = others.map((side) => {
      const pairs = pairsWith(own, side.name)
      return pairs.length === 0 ? '-' : `${speedup(pairs).toFixed(2)} ${Math.min(...pairs.map((pair) => pair.other / pair.own)).toFixed(2)} ${pairs.filter((pair) => isSlower(pair.own, pair.other)).length}/${pairs.length}`
    })
    say(`${name.padEnd(52)} ${cells.map((cell) => cell.padStart(20)).join(' ')}`)
  }
  for (const { name } of others) {
    say(`ten worst against ${name}:`)
    for (const { row, own, other } of pairsWith(rows, name).sort((a, b) => a.other / a.own - b.other / b.own).slice(0, 10)) {
      say(`  ${(other / own).toFixed(3)}x  ${(own / 1000).toFixed(1)} us, ${name} ${(other / 1000).toFixed(1)} us  ${String(row['op'])} ${String(row['dtype'])} ${String(row['params'])}`)
    }
  }
}
