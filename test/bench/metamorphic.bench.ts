import type { Device } from '@core/backend'
import { caseId, DTYPE_BYTES, type BenchmarkCase, type Mode } from '@core/case'
import { compareSessions, type ComparedSession } from '@core/compare'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { ceilingOf, ceilingPlan, READ_KIND, WRITE_KIND } from '@core/roofline/ceilings'
import type { Result } from '@core/result'
import { blockOf, rowAt } from '@core/session/rows'
import type { Ceiling, Environment } from '@core/session/types'
import type { Interval } from '@core/stats/bootstrap'
import { overRuns } from '@core/stats/summarize'
import { median } from '@core/stats/descriptive'
import { readEnvironment } from '../../main/environment'
import { listed, loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, describe, isGpu, openBed, type Bed } from './proof/bed'
import { aboveCeiling, sharesOf, SLACK } from './proof/above'
import { shortBlocks } from './proof/interleaved'
import { robustLine } from './proof/regression'

type Row = Record<string, string | number | boolean | undefined>

interface Proof {
  figures: Figure[]
  rows: Row[]
  /** What was measured on the way, for the question whether anything lies above a ceiling. */
  results: Result[]
}

/** Streaming operations with the tensors each reads and writes. */
const STREAMING = [
  { op: 'copy', tensors: 2 },
  { op: 'add', tensors: 3 },
] as const

/** Bytes of the last-level cache; a device that tells none has no crossing to look for. */
const lastCache = (device: Device) => device.caches?.at(-1)?.bytes

/** Elements of a streaming case whose tensors take `bytes` together, in whole blocks of 1024. */
const elements = (bytes: number, tensors: number) => Math.max(1024, Math.round(bytes / tensors / DTYPE_BYTES.f32 / 1024) * 1024)

/**
 * Beyond the caches time is a constant plus a rate times the size: slope, intercept and what is left over. Sizes are
 * measured interleaved, up and down, and each is the median of its rounds: what memory gives on a shared host changes from
 * second to second, and would bend the line. A distance is judged by what of it lies outside the interval of the rounds.
 */
async function linear(bed: Bed, device: Device, settings: MeasureSettings, rounds: number): Promise<Proof> {
  const proof: Proof = { figures: [], rows: [], results: [] }
  const from = (lastCache(device) ?? 2 ** 25) * 4
  const sizes = device.software ? [1, 2, 4].map((factor) => factor * 2 ** 22) : [1, 1.5, 2, 3, 4, 6, 8].map((factor) => factor * from)
  for (const { op, tensors } of STREAMING) {
    const cases = sizes.flatMap((bytes) => {
      const c = caseOn(device, op, { n: elements(bytes, tensors) }, 'hot')
      return c ? [{ c, results: [] as Result[] }] : []
    })
    for (let round = 0; round < rounds; round++) {
      for (const { c, results } of round % 2 === 0 ? cases : cases.toReversed()) results.push(await bed.measure(c, settings))
    }
    const points = cases.map(({ results }) => {
      const medians = results.map(({ summary }) => summary!.medianNs)
      const { median: y, interval = { low: y, high: y } } = overRuns(medians)!
      return { x: results[0]!.bytes, y, interval, medians }
    })
    const line = robustLine(points)
    if (!line) continue
    const away = points.map(({ x, y }) => Math.abs(y / (line.intercept + line.slope * x) - 1) * 100)
    const residuals = points.map(({ x, interval: { low, high } }) => {
      const onLine = line.intercept + line.slope * x
      return (Math.max(0, low - onLine, onLine - high) / onLine) * 100
    })
    proof.figures.push(
      { name: `${device.id} ${op}: largest distance from a line in the size beyond what ${rounds} rounds differ, ${points.length} sizes beyond the cache`, value: Math.max(...residuals), unit: '%', aim: 2, better: 'less' },
      { name: `${device.id} ${op}: largest distance of a median from that line`, value: Math.max(...away), unit: '%', published: true },
      { name: `${device.id} ${op}: bandwidth by the slope of that line`, value: 1 / line.slope, unit: 'GB/s', published: true },
      { name: `${device.id} ${op}: intercept of that line`, value: line.intercept / 1000, unit: 'us' },
    )
    points.forEach(({ x, y, interval, medians }, i) => proof.rows.push({ proof: 'linear', device: device.id, op, bytes: x, medianNs: y, low: interval.low, high: interval.high, awayPercent: away[i], residualPercent: residuals[i], mediansNs: listed(medians) }))
    proof.results.push(...cases.flatMap(({ results }) => results))
  }
  return proof
}

/**
 * Cold over hot: above 1 while the data fits the last cache, 1 beyond it, with the crossing at its size. Both are measured
 * by turns in short blocks, hot cold cold hot in each round, and judged by the median of the rounds' ratios: a host that
 * slows down for seconds slows both.
 */
async function crossing(bed: Bed, device: Device, settings: MeasureSettings, rounds: number): Promise<Proof> {
  const proof: Proof = { figures: [], rows: [], results: [] }
  const cache = lastCache(device)
  if (cache === undefined || device.software) return proof
  const shares = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1, 1.5, 2, 4, 8, 16]
  const ratios: ({ share: number; cold: number } & Interval)[] = []
  for (const share of shares) {
    const of = (mode: Mode) => caseOn(device, 'copy', { n: elements(share * cache, 2) }, mode)
    const [hot, cold, rotated] = [of('hot'), of('cold'), of('rotated')]
    if (!hot || !cold) continue
    const found: { hotNs: number; coldNs: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const block = async (c: BenchmarkCase) => {
        const result = await bed.measure(c, shortBlocks(settings.minSeconds / 2), true)
        proof.results.push(result)
        return result.summary!.medianNs
      }
      const [a, b, c, d] = [await block(hot), await block(cold), await block(cold), await block(hot)]
      found.push({ hotNs: Math.sqrt(a * d), coldNs: Math.sqrt(b * c) })
    }
    const rotatedResult = rotated && (await bed.measure(rotated, settings))
    if (rotatedResult) proof.results.push(rotatedResult)
    const each = found.map(({ hotNs, coldNs }) => coldNs / hotNs)
    const { median: middle, interval = { low: middle, high: middle } } = overRuns(each)!
    ratios.push({ share, cold: middle, ...interval })
    proof.rows.push({
      proof: 'crossing', device: device.id, op: 'copy', cacheShare: share, hotNs: median(found.map(({ hotNs }) => hotNs)), coldNs: median(found.map(({ coldNs }) => coldNs)), rotatedNs: rotatedResult?.summary!.medianNs,
      coldOverHot: middle, low: interval.low, high: interval.high, rounds: listed(each), hotMediansNs: listed(found.map(({ hotNs }) => hotNs)),
    })
  }
  const below = ratios.filter(({ share }) => share <= 1 / 4).map(({ cold }) => cold)
  const beyond = ratios.filter(({ share }) => share >= 8)
  if (below.length === 0 || beyond.length === 0) return proof
  const half = 1 + (Math.max(...below) - 1) / 2
  const across = ratios.filter(({ share }) => share >= 1 / 8).find(({ cold }) => cold < half)
  proof.figures.push(
    { name: `${device.id} copy: cold over hot within a quarter of the last cache, least`, value: Math.min(...below), unit: 'x', aim: 1.1, better: 'more' },
    { name: `${device.id} copy: cold over hot from 8 times the last cache, distance from 1 beyond what ${rounds} rounds differ, largest`, value: Math.max(...beyond.map(({ low, high }) => Math.max(0, low - 1, 1 - high))) * 100, unit: '%', aim: 5, better: 'less' },
    { name: `${device.id} copy: largest distance of a median of those ratios from 1`, value: Math.max(...beyond.map(({ cold }) => Math.abs(cold - 1))) * 100, unit: '%', published: true },
  )
  if (across) proof.figures.push({ name: `${device.id} copy: working set at which half of the difference is gone, in last caches`, value: across.share, unit: 'x', published: true })
  return proof
}

/**
 * Ceilings measured as the product measures them: where no cache can help, nothing lies above them by more than two
 * measurements of one rate differ. A clock that runs slow, traffic counted twice and a ceiling measured too low all show here.
 */
async function ceilings(bed: Bed, device: Device, settings: MeasureSettings, results: readonly Result[]): Promise<Proof> {
  const known: Ceiling[] = []
  const wanted = ceilingPlan(device).filter(({ kind }) => ['copy', READ_KIND, WRITE_KIND, 'flops:f32'].includes(kind))
  for (const { case: c } of wanted) {
    const ceiling = ceilingOf(device, await bed.measure(c, settings))
    if (ceiling) known.push(ceiling)
  }
  const shares = sharesOf(results, known, lastCache(device) ?? 0)
  const uncached = shares.filter((one) => one.uncached)
  return {
    figures: [
      { name: `${device.id}: results more than ${SLACK * 100} % above a measured ceiling where no cache can help (cold, rotated, 8 times the last cache), of ${uncached.length}`, value: aboveCeiling(shares).length, unit: '', aim: 0, better: 'less' },
      { name: `${device.id}: highest share of a ceiling among these`, value: Math.max(...uncached.map(({ share }) => share)) * 100, unit: '%', published: true },
      { name: `${device.id}: results that a cache answers faster than memory could`, value: shares.filter((one) => !one.uncached && one.share > 1).length, unit: '' },
    ],
    rows: shares.map(({ result, share, uncached: apart }) => ({ proof: 'ceilings', case: describe(result.case), efficiencyPercent: share * 100, uncached: apart })),
    results: [],
  }
}

function orderedCases(device: Device): BenchmarkCase[] {
  const small = !isGpu(device)
  const vectors = (small ? [2 ** 12, 2 ** 16, 2 ** 20] : [2 ** 16, 2 ** 20, 2 ** 24]).map((n) => ({ n }))
  const matrices = (small ? [64, 512] : [1024, 8192]).map((rows) => ({ rows, cols: 1024 }))
  const picks = [...['add', 'exp', 'copy'].map((op) => ({ op, sizes: vectors })), { op: 'softmax', sizes: matrices }, { op: 'matmul', sizes: (small ? [64, 128] : [512, 1024]).map((n) => ({ m: n, n, k: n })) }]
  return picks.flatMap(({ op, sizes }) => sizes.flatMap((params) => (['hot', 'cold'] as const).flatMap((mode) => caseOn(device, op, params, mode, { threads: device.threads[0] }) ?? [])))
}

/**
 * Whether a sweep goes backward, in the order of the sweeps (Prouhet, Thue and Morse): any drift of low order hits both
 * directions alike, and no rhythm of the host can fall in with it.
 */
const backward = (sweep: number): boolean => sweep.toString(2).replaceAll('0', '').length % 2 === 1

/** The product's comparison of all forward runs with all backward runs: for each case with its ratio. */
function compareOrders(sides: readonly Result[][], environment: Environment) {
  const all = new Map(sides.flat().map((result) => [result.id, result]))
  const sessions = sides.map((results, side): ComparedSession => {
    const block = blockOf(results, 0)
    return { id: `side-${side}`, name: side === 0 ? 'forward' : 'backward', createdAt: new Date(0).toISOString(), environment, rows: results.map((_, i) => rowAt(block, i)) }
  })
  const { rows } = compareSessions(sessions, (id) => all.get(id)!)
  const cells = rows.flatMap((row) => (row.cells[1] ? [{ case: row.case, ...row.cells[1] }] : []))
  return { cells, of: (...verdicts: string[]) => cells.filter(({ verdict }) => verdict !== undefined && verdicts.includes(verdict)).length }
}

/**
 * The same sweep forward and backward, `runs` times each. Where cases get a verdict, as many sweeps again are made and all
 * are compared: a true dependence only shows the clearer, and chance, which finds something in one of twenty comparisons
 * even where runs are independent, goes away.
 */
async function order(bed: Bed, device: Device, settings: MeasureSettings, runs: number): Promise<Proof> {
  const cases = orderedCases(device)
  const environment = readEnvironment([device])
  const sides: [Result[], Result[]] = [[], []]
  const sweep = async (number: number) => {
    const side = backward(number) ? 1 : 0
    for (const c of side === 0 ? cases : cases.toReversed()) sides[side].push({ ...(await bed.measure(c, settings)), id: `${number}-${sides[side].length}`, run: number >> 1 })
  }
  for (let number = 0; number < 2 * runs; number++) await sweep(number)
  const first = compareOrders(sides, environment)
  const again = first.of('faster', 'slower') > 0
  if (again) for (let number = 2 * runs; number < 4 * runs; number++) await sweep(number)
  const { cells, of } = again ? compareOrders(sides, environment) : first
  const mediansOf = (side: 0 | 1, c: BenchmarkCase) => listed(sides[side].filter((result) => caseId(result.case) === caseId(c)).map(({ summary }) => summary!.medianNs))
  return {
    figures: [
      { name: `${device.id}: cases of a sweep whose verdict depends on the order, of ${cells.length} in ${again ? 2 * runs : runs} runs each way`, value: of('faster', 'slower'), unit: '', aim: 0, better: 'less' },
      ...(again ? [{ name: `${device.id}: such cases after the first ${runs} runs each way`, value: first.of('faster', 'slower'), unit: '', published: true }] : []),
      { name: `${device.id}: cases the same in both orders`, value: of('same'), unit: '' },
      { name: `${device.id}: cases ambiguous`, value: of('ambiguous'), unit: '' },
    ],
    rows: cells.map(({ case: c, speedup, speedupLow, speedupHigh, verdict }) => ({ proof: 'order', device: c.device, case: describe(c), speedup, low: speedupLow, high: speedupHigh, verdict, forwardNs: mediansOf(0, c), backwardNs: mediansOf(1, c) })),
    results: [],
  }
}

/**
 * What must hold whatever the machine: time of streaming grows in line with the size beyond the caches, cold and hot meet
 * at the size of the cache, nothing passes a measured ceiling where no cache can help, and the order of a sweep does not matter.
 * devices=cpu | cuda:0 | webgpu:0; seconds=0.1 of a case; rounds=5 over the sizes of a line, and of cold
 * against hot at each size, 3 on a GPU, which is steadier; runs=8 sweeps each way, 4 on a GPU.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const seconds = Number(args['seconds'] ?? 0.1)
  const settings: MeasureSettings = { ...PRESETS.standard, minSeconds: seconds, maxSeconds: 20 * seconds, maxWarmupSeconds: 2 * seconds, verifyWork: 1e7 }
  const bed = await openBed(args)
  try {
    const outcome: Outcome & { rows: Row[] } = { figures: [], rows: [], devices: bed.devices }
    for (const device of bed.devices) {
      const rounds = Number(args['rounds'] ?? (isGpu(device) ? 3 : 5))
      const runs = Number(args['runs'] ?? (isGpu(device) ? 4 : 8))
      say(`${device.id}: linear in the size`)
      const line = await linear(bed, device, settings, rounds)
      say(`${device.id}: cold against hot`)
      const cross = await crossing(bed, device, settings, rounds)
      say(`${device.id}: ceilings`)
      const above = await ceilings(bed, device, settings, [...line.results, ...cross.results])
      say(`${device.id}: order`)
      const ordered = await order(bed, device, { ...settings, minSeconds: seconds / 2, maxSeconds: 5 * seconds }, runs)
      for (const { figures, rows } of [line, cross, above, ordered]) {
        outcome.figures.push(...figures)
        outcome.rows.push(...rows)
      }
    }
    outcome.figures.push(loadFigure())
    return outcome
  } finally {
    bed.close()
  }
}
export default bench
