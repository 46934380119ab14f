import { readFile } from 'node:fs/promises'
import { paramText, type BenchmarkCase, type Dtype, type Mode, type Params } from '@core/case'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { getOp, OPS } from '@core/ops/registry'
import { geometricMean } from '@core/stats/descriptive'
import { createRandom } from '@core/stats/random'
import type { Result } from '@core/result'
import { everyChoice, findSizePreset } from '@core/sweep/defaults'
import { planSweep } from '@core/sweep/plan'
import type { SizeTexts } from '@core/session/sweep-spec'
import type { Bench, BenchRecord, Figure, Outcome } from './bench'
import { BOUNDS, classOf, drawCases, type Drawable, type Drawn } from './fuzz/draw'
import { inShare, readCases } from './fuzz/list'
import { Journal } from './journal'
import { openSides, takes, type HostSide } from './proof/host-sides'

/**
 * Our WGSL kernels in the app's own page beside CUDA, PyTorch and the web's libraries on one GPU, all through the product's hosts:
 *   devices=webgpu:0/wgsl        or chromium:webgpu:0/wgsl, the same page in Debian's Chromium (proof/chromium-kind.ts)
 *   beside=cuda:0/kernel,cuda:0/cublaslt,python:cuda:0/torch,webgpu:0/onnxruntime-web,webgpu:0/tfjs   those that are missing are left out
 *   parts=cold:60,hot:40,fuzz:30,conformance:25,peers:30   in this order, each begins no case after so many seconds
 *   seed=N count=N               which shapes fuzz and conformance draw
 *   cases=FILE                   fuzz has these instead, a list of { op, dtype, params }
 *   ops=sum,softmax              these operations alone in cold, hot and peers
 *   share=0/4                    the first of four parts of the cases, so that several cards share them; their logs one after another are the log of one run
 *   sizes=xlarge                 the preset of the catalogue's sizes; those of products, attention and images are of `large`
 *   log=FILE                     writes each row when it is measured; the next run with the same file measures those that are missing
 *   from=FILE                    judges the rows of an earlier result again; or of a log, with record=FILE, the result of the last run that wrote to it
 * cold, hot: every operation in f32. fuzz: drawn shapes in f32, cold, beside CUDA. conformance: drawn small shapes in every dtype and own
 * implementation, compared with their references. peers: web libraries on their operations.
 */
const webgpuVsCuda: Bench = async ({ args, say }) => {
  if (args['from'] !== undefined) {
    const { rows, record } = await earlier(args['from'], args['record'] ?? args['from'])
    report(rows, say)
    return { figures: figuresOf(rows), rows, record } satisfies Outcome
  }
  const names = [args['devices'] ?? 'webgpu:0/wgsl', ...(args['beside'] ?? 'cuda:0/kernel,cuda:0/cublaslt,python:cuda:0/torch,webgpu:0/onnxruntime-web,webgpu:0/tfjs').split(',')]
  const [own, ...others] = await openSides(names, say)
  if (!own) throw new Error(`${names[0]} cannot be had`)
  const log = new Journal<Row>(args['log'])
  const rows: Row[] = []
  try {
    const only = args['ops']?.split(',')
    const places = { seed: Number(args['seed'] ?? 1), count: Number(args['count'] ?? 2000), sizes: args['sizes'] ?? 'xlarge', cases: args['cases'] === undefined ? undefined : readCases(args['cases']) }
    for (const word of (args['parts'] ?? 'cold:60,hot:40,fuzz:30,conformance:25,peers:30').split(',')) {
      const [part = '', seconds = '60'] = word.split(':')
      const until = performance.now() + Number(seconds) * 1000
      const { cases, sides, settings } = partOf(part, own, others, places)
      for (const one of (only && CATALOGUED.has(part) ? cases.filter(({ op }) => only.includes(op)) : cases).filter(inShare(args['share']))) {
        const name = [part, one.impl ?? '', one.op, one.dtype, paramText(one.params)].join(' ')
        const known = log.get(name)
        if (known) rows.push(known)
        else if (performance.now() <= until && log.begin(name)) rows.push(log.add(name, await measured(part, one, sides, settings)))
      }
      say(`${part}: ${rows.filter((row) => row.part === part).length} of ${cases.length} cases`)
    }
  } finally {
    for (const side of [own, ...others]) side.close()
  }
  report(rows, say)
  return { figures: figuresOf(rows), rows, devices: [own, ...others].map(({ device }) => device) } satisfies Outcome
}
export default webgpuVsCuda

/** Rows of a result, or of the log of several runs, with the record of a result. */
async function earlier(file: string, about: string): Promise<{ rows: readonly Row[]; record: BenchRecord }> {
  const text = await readFile(file, 'utf8')
  const { rows, ...record } = JSON.parse(await readFile(about, 'utf8')) as BenchRecord & { rows: readonly Row[] }
  if (!file.endsWith('.jsonl')) return { rows, record }
  // The last line may be the one that was being written.
  const whole = text.slice(0, text.lastIndexOf('\n')).split('\n').filter((line) => line !== '')
  return { rows: whole.flatMap((line) => (JSON.parse(line) as { row?: Row }).row ?? []), record }
}

interface Row {
  part: string
  op: string
  dtype: Dtype
  params: string
  class: string
  bytes: number
  flops: number
  [column: string]: string | number | undefined
}

/** A case without a side; `impl` where it is for one implementation of our device alone. */
interface Asked extends Drawn {
  impl?: string
}

/** Parts whose cases are those of the catalogue. */
const CATALOGUED: ReadonlySet<string> = new Set(['cold', 'hot', 'peers'])

interface Part {
  cases: readonly Asked[]
  sides: readonly HostSide[]
  settings: MeasureSettings
}

const TIMED: MeasureSettings = { ...PRESETS.quick, relativeCi: 0.01, minSeconds: 0.02, maxSeconds: 0.25, maxWarmupSeconds: 0.05, verifyWork: 2e6 }
/** Two samples, because a result has some: what counts is the comparison with the reference. */
const CHECKED: MeasureSettings = { ...PRESETS.quick, rule: { id: 'fixed-count', count: 2 }, minSamples: 2, minSeconds: 0, maxSeconds: 0.05, maxWarmupSeconds: 0, verifyWork: 1e7 }
const FUZZ = { elements: 2 ** 26, flops: 2 ** 36 }
const CONFORMANCE = { ...BOUNDS, elements: 2 ** 20, flops: 2 ** 30 }
/** Forms whose `xlarge` takes milliseconds; others have their `large` beside it. */
const LARGE_FORMS = new Set(['vector', 'matrix'])

const kernelsOf = ({ device, impl }: HostSide) => device.impls.find(({ id }) => id === impl)?.kernels ?? {}
const isWeb = ({ device }: HostSide) => device.backend === 'webgpu'

/** Which cases the parts take. */
interface Places {
  seed: number
  count: number
  sizes: string
  cases: readonly Asked[] | undefined
}

function partOf(part: string, own: HostSide, others: readonly HostSide[], { seed, count, sizes, cases }: Places): Part {
  const drawable = (kernels: readonly Readonly<Record<string, readonly Dtype[]>>[], only?: Dtype): Drawable[] =>
    OPS.filter(({ family }) => family !== 'composite').flatMap((op) => {
      const dtypes = op.dtypes.filter((dtype) => (only === undefined || dtype === only) && kernels.every((table) => table[op.id]?.includes(dtype)))
      return dtypes.length > 0 ? [{ op, dtypes }] : []
    })
  const native = others.filter((side) => !isWeb(side))
  const web = others.filter(isWeb)
  if (part === 'cold' || part === 'hot') return { cases: catalogue(own, sizes), sides: [own, ...native], settings: TIMED }
  if (part === 'peers') return { cases: catalogue(own, sizes === 'xlarge' ? 'large' : sizes).filter((one) => web.some((side) => takes(side, one))), sides: [own, ...web], settings: TIMED }
  if (part === 'fuzz') return { cases: cases ?? drawCases(seed, count, drawable([own, ...native.slice(0, 1)].map(kernelsOf), 'f32'), FUZZ), sides: [own, ...native.slice(0, 1)], settings: TIMED }
  if (part === 'conformance') {
    const impls = own.device.impls.filter(({ id, available }) => available.ok && id.startsWith('wgsl'))
    const drawn = impls.map(({ id, kernels }, i) => drawCases(seed + i, count, drawable([kernels]), CONFORMANCE).map((one): Asked => ({ ...one, impl: id })))
    return { cases: Array.from({ length: count }, (_, i) => drawn.map((list) => list[i]!)).flat(), sides: [own], settings: CHECKED }
  }
  throw new Error(`there is no part "${part}"`)
}

/** Every operation that our device has in f32, at the sizes of a preset. */
function catalogue(own: HostSide, sizes: string): Asked[] {
  const chosen = findSizePreset(sizes)?.sizes
  if (!chosen) throw new Error(`there is no preset of sizes "${sizes}"`)
  const others: SizeTexts = sizes === 'xlarge' ? { ...findSizePreset('large')!.sizes, gemm: '1024..4096' } : chosen
  const texts = Object.fromEntries(Object.keys(chosen).map((form) => [form, (LARGE_FORMS.has(form) ? chosen : others)[form]!]))
  const picks = OPS.filter(({ id, family }) => family !== 'probe' && family !== 'ceiling' && kernelsOf(own)[id]?.includes('f32'))
  const { cases } = planSweep({ ops: picks.map(everyChoice), sizes: texts, dtypes: ['f32'], modes: ['hot'], preset: 'quick', targets: [{ backend: own.device.backend, device: own.device.id, impls: [own.impl] }] }, [own.device])
  // Copy and the few cases bound by arithmetic first, the others in a fixed order without system: a run that is cut is a sample of all.
  const random = createRandom(1)
  const first = (op: string) => (op === 'copy' ? -2 : BOUND_BY_ARITHMETIC.has(getOp(op).family) ? -1 : 0)
  return cases
    .map(({ op, dtype, params }) => ({ op, dtype, params, place: first(op) + random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ place: _, ...one }) => one)
}

const MODES: Readonly<Record<string, Mode>> = { hot: 'hot', conformance: 'hot' }

async function measured(part: string, asked: Asked, sides: readonly HostSide[], settings: MeasureSettings): Promise<Row> {
  const { op: id, dtype, params } = asked
  const op = getOp(id)
  const parsed: Params = op.params.parse(params)
  const row: Row = { part, op: id, dtype, params: paramText(params), class: classOf(op, parsed, dtype), bytes: op.bytes(parsed, dtype), flops: op.flops(parsed), ...(asked.impl === undefined ? {} : { impl: asked.impl }) }
  for (const side of sides) {
    if (asked.impl === undefined && !takes(side, asked)) continue
    const c: BenchmarkCase = { op: id, params, dtype, backend: side.device.backend, impl: asked.impl ?? side.impl, device: side.device.id, mode: MODES[part] ?? 'cold', ...(side.device.threads.length > 0 ? { threads: side.device.threads.at(-1)! } : {}) }
    Object.assign(row, columnsOf(side.name, await side.measure(c, settings).catch((error: unknown) => (error instanceof Error ? error.message : String(error)))))
  }
  return row
}

function columnsOf(name: string, result: Result | string): Partial<Row> {
  if (typeof result === 'string') return { [`${name} ended`]: result }
  if (result.status !== 'ok') return { [`${name} ended`]: `${result.status}: ${result.message ?? ''} ${result.detail ?? ''}`.trim().slice(0, 400) }
  const { summary, grade, hostCallNs, verification } = result
  return {
    [`${name} ns`]: Number(summary!.medianNs.toPrecision(6)),
    [`${name} grade`]: grade,
    ...(hostCallNs === undefined ? {} : { [`${name} host ns`]: Math.round(hostCallNs) }),
    ...(verification?.checkedElements === undefined ? {} : { [`${name} checked`]: verification.checkedElements }),
  }
}

const OWN = 'wgsl'
const pairsWith = (rows: readonly Row[], other: string) =>
  rows.flatMap((row) => {
    const [own, theirs] = [row[`${OWN} ns`], row[`${other} ns`]]
    return typeof own === 'number' && typeof theirs === 'number' ? [{ row, speed: theirs / own }] : []
  })

/** Slower by this factor is a fault of a kernel (the aim of the drawn shapes). */
const FAR_BEHIND = 2

/** Drawn shapes are mostly small: what the smallest call costs on our side beyond theirs is no matter of a kernel, in ns. */
function callCost(rows: readonly Row[], other: string): number {
  const least = (name: string) => Math.min(...pairsWith(rows, other).map(({ row }) => Number(row[`${name} ns`])))
  return Math.max(0, least(OWN) - least(other))
}

/** Pairs with the speed that is left when our side's larger cost of a call is taken off. */
const beyondCall = (rows: readonly Row[], other: string) => {
  const cost = callCost(rows, other)
  return pairsWith(rows, other).map(({ row }) => ({ row, speed: Number(row[`${other} ns`]) / (Number(row[`${OWN} ns`]) - cost) }))
}

function farBehind(part: string, rows: readonly Row[], other: string): Figure[] {
  if (part !== 'fuzz') return []
  const slow = (pairs: readonly { speed: number }[]) => pairs.filter(({ speed }) => speed < 1 / FAR_BEHIND).length
  return [
    { name: `fuzz: the smallest call, beyond that of ${other}`, value: callCost(rows, other) / 1000, unit: 'us', published: true },
    { name: `fuzz: cases more than ${FAR_BEHIND}x slower than ${other}`, value: slow(pairsWith(rows, other)), unit: '', published: true },
    { name: `fuzz: the same without what the smallest call costs beyond that of ${other}`, value: slow(beyondCall(rows, other)), unit: '', aim: 0, better: 'less' },
  ]
}

/** Operations whose time is more than that of their memory traffic. */
const BOUND_BY_ARITHMETIC = new Set(['matmul', 'attention', 'convolution', 'order', 'composite'])
const isMemoryBound = ({ op }: Row) => !BOUND_BY_ARITHMETIC.has(getOp(op).family)
/** Rows of the catalogue as the table of docs/figures.md has them. */
const GROUPS: readonly (readonly [name: string, families: readonly string[]])[] = [
  ['element-wise, copy', ['binary', 'ternary', 'unary', 'activation', 'dropout', 'optimizer']],
  ['reductions, dot', ['reduction', 'vector']],
  ['softmax, norms, losses, gated', ['softmax', 'normalization', 'loss', 'gated']],
  ['backward', ['backward']],
  ['pooling, lookup', ['pooling', 'lookup']],
  ['matmul', ['matmul']],
  ['convolutions', ['convolution']],
  ['attention, transformer block', ['attention', 'composite']],
  ['sort, top-k, scan', ['order']],
]
const ELEMENTWISE = new Set(['memory', 'binary', 'ternary', 'unary', 'activation', 'dropout', 'optimizer'])
const ROWWISE = new Set(['softmax', 'normalization', 'reduction', 'vector', 'loss'])
/** Traffic from which shares of the copy's rate count. */
const LARGE_BYTES = 64e6

const othersIn = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row).flatMap((key) => (key.endsWith(' ns') && !key.endsWith(' host ns') && key !== `${OWN} ns` ? [key.slice(0, -3)] : []))))]

function figuresOf(rows: readonly Row[]): Figure[] {
  return [...new Set(rows.map(({ part }) => part))].flatMap((part) => {
    const own = rows.filter((row) => row.part === part)
    const ended = own.filter((row) => row[`${OWN} ended`] !== undefined)
    const common: Figure[] = [
      { name: `${part}: cases`, value: own.length, unit: '', published: true },
      { name: `${part}: cases that failed their check or were refused`, value: ended.length, unit: '', aim: 0, better: 'less' },
    ]
    if (part === 'conformance') return common
    return [...common, ...othersIn(own).flatMap((other) => [...speeds(part, own, other), ...farBehind(part, own, other)]), ...(part === 'cold' || part === 'hot' ? sharesOfCopy(part, own) : [])]
  })
}

function speeds(part: string, rows: readonly Row[], other: string): Figure[] {
  const catalogued = part === 'cold' || part === 'hot'
  const families = (names: readonly string[]) => (row: Row) => names.includes(getOp(row.op).family) || (names.includes('unary') && row.op === 'copy')
  const kinds: [string, (row: Row) => boolean][] = catalogued ? [['bound by memory', isMemoryBound], ...GROUPS.map(([name, of]): [string, (row: Row) => boolean] => [name, families(of)]), ['transpose', ({ op }) => op === 'transpose']] : part === 'peers' ? [['all', () => true], ['without reductions', ({ op }) => getOp(op).family !== 'reduction']] : [['all', () => true]]
  return kinds.flatMap(([kind, has]) => {
    const pairs = pairsWith(rows.filter(has), other)
    if (pairs.length === 0) return []
    const aim = aimOf(part, kind, other)
    return [
      { name: `${part}, ${kind}: speed relative to ${other}, geometric mean of ${pairs.length} cases`, value: geometricMean(pairs.map(({ speed }) => speed))!, unit: 'x', ...(aim === undefined ? {} : { aim, better: 'more' as const }), published: part !== 'hot' || kind === 'bound by memory' },
      { name: `${part}, ${kind}: speed relative to ${other}, slowest case`, value: Math.min(...pairs.map(({ speed }) => speed)), unit: 'x', ...(part === 'fuzz' ? { aim: 0.5, better: 'more' as const } : {}), published: kind === 'bound by memory' || kind === 'all' },
    ]
  })
}

/** What the geometric mean of the speeds should be. */
function aimOf(part: string, kind: string, other: string): number | undefined {
  if (part === 'peers') return kind === 'all' ? 2 : undefined
  if (part !== 'cold' && part !== 'hot') return undefined
  if (kind === 'matmul') return other === 'kernel' ? undefined : 0.7
  if (kind === 'convolutions' || kind.startsWith('attention')) return other === 'kernel' ? 0.33 : undefined
  if (kind !== 'bound by memory') return undefined
  return other === 'torch' ? 1 : other === 'kernel' ? 0.92 : undefined
}

/** Bandwidth of the slowest case, over that of our copy in the same part. */
function sharesOfCopy(part: string, rows: readonly Row[]): Figure[] {
  const rate = (row: Row) => (typeof row[`${OWN} ns`] === 'number' ? row.bytes / (row[`${OWN} ns`] as number) : undefined)
  const copy = rows.flatMap((row) => (row.op === 'copy' ? (rate(row) ?? []) : []))[0]
  if (copy === undefined) return []
  const slowest = (has: (row: Row) => boolean) => Math.min(...rows.filter((row) => row.bytes >= LARGE_BYTES && has(row)).map((row) => (rate(row) ?? Infinity) / copy))
  const elementwise = (row: Row) => ELEMENTWISE.has(getOp(row.op).family) && row.op !== 'transpose'
  const rowwise = (row: Row) => ROWWISE.has(getOp(row.op).family) || row.op === 'transpose'
  const figures: Figure[] = [
    { name: `${part}: bandwidth of the slowest element-wise operation, over that of copy`, value: slowest(elementwise), unit: 'x', aim: 0.95, better: 'more' },
    { name: `${part}: bandwidth of the slowest softmax, norm, reduction, transpose or loss, over that of copy`, value: slowest(rowwise), unit: 'x', aim: 0.87, better: 'more' },
    { name: `${part}: bandwidth of the slowest other operation bound by memory, over that of copy`, value: slowest((row) => isMemoryBound(row) && !elementwise(row) && !rowwise(row)), unit: 'x' },
  ]
  return figures.filter(({ value }) => Number.isFinite(value))
}

/** What ended without a time, then per part the ten cases farthest behind each other side. */
function report(rows: readonly Row[], say: (text: string) => void): void {
  const named = (row: Row) => `${row.part} ${row.op} ${row.dtype} ${row.params}`
  for (const row of rows) for (const [key, value] of Object.entries(row)) if (key.endsWith(' ended')) say(`${named(row)}: ${key.slice(0, -6)} ${String(value)}`)
  for (const part of new Set(rows.map((row) => row.part)))
    for (const other of othersIn(rows.filter((row) => row.part === part))) {
      say(`${part}: farthest behind ${other}${part === 'fuzz' ? ' without what the smallest call costs beyond one there' : ''}:`)
      for (const { row, speed } of (part === 'fuzz' ? beyondCall : pairsWith)(rows.filter((one) => one.part === part), other).sort((a, b) => a.speed - b.speed).slice(0, 10)) say(`  ${speed.toFixed(3)}x  ${(Number(row[`${OWN} ns`]) / 1000).toFixed(1)} us  ${named(row)}`)
    }
}

