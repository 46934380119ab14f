import type { Device } from '@core/backend'
import type { Mode, Params } from '@core/case'
import { INTERLEAVE, selfCheckPairs, THRESHOLD, verdictOf, type Pair, type Verdict } from '@core/compare'
import { quantile } from '@core/stats/descriptive'
import { loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { caseOn, describe, isGpu, openBed, type Bed } from './proof/bed'
import { measurePair, shortBlocks } from './proof/interleaved'

/**
 * What is made slower by a known share: work whose time is proportional to its size, so that +1 % of size is +1 % of time.
 * Sizes are multiples of 100 * 64, so that the enlarged one fills vectors and blocks as the plain one does. On a processor
 * plain and enlarged one both fit the second cache, and both are plain maps: of softmax, two buffers of one size already differ
 * by up to 5 %, so that its size is no known slowdown.
 */
const WORK: readonly { op: string; params: (factor: number) => Params; mode: Mode }[] = [
  { op: 'spin', params: (factor) => ({ iterations: Math.round(20_000 * factor) }), mode: 'hot' },
  { op: 'spin', params: (factor) => ({ iterations: Math.round(100_000 * factor) }), mode: 'hot' },
  { op: 'exp', params: (factor) => ({ n: Math.round(6400 * 4 * factor) }), mode: 'hot' },
  { op: 'gelu', params: (factor) => ({ n: Math.round(6400 * 3 * factor) }), mode: 'hot' },
]
/** An emulated device takes milliseconds for what touches memory: work that is long but touches little. */
const EMULATED: typeof WORK = [50_000, 200_000, 500_000].map((iterations) => ({ op: 'spin', params: (factor) => ({ iterations: Math.round(iterations * factor) }), mode: 'hot' }))
/** A GPU takes microseconds for what a processor is busy with for longer. */
const LARGE: typeof WORK = [
  { op: 'spin', params: (factor) => ({ iterations: Math.round(20_000 * factor) }), mode: 'hot' },
  { op: 'spin', params: (factor) => ({ iterations: Math.round(100_000 * factor) }), mode: 'hot' },
  { op: 'add', params: (factor) => ({ n: Math.round(6400 * 10_000 * factor) }), mode: 'hot' },
  { op: 'exp', params: (factor) => ({ n: Math.round(6400 * 10_000 * factor) }), mode: 'cold' },
]

/** Injected slowdowns, the share of pairs that must be found, and the threshold of the verdict: it must lie below what it is to find. */
const INJECTED = [
  { percent: 1, share: 0.8, threshold: 0.005 },
  { percent: 2, share: 0.95, threshold: THRESHOLD },
  { percent: 5, share: 0.99, threshold: THRESHOLD },
] as const

interface Row {
  [key: string]: string | number | undefined
  device: string
  case: string
  injectedPercent: number
  threshold: number
  ratio: number
  low: number | undefined
  high: number | undefined
  quads: number
  verdict: Verdict
}

async function compared(bed: Bed, pair: Pair, injectedPercent: number, threshold: number, settings: { seconds: number; maxQuads: number }): Promise<Row> {
  const { ratio, interval, quads } = await measurePair(bed, pair, shortBlocks(settings.seconds), threshold, settings.maxQuads)
  return { device: pair.a.device, case: describe(pair.a), injectedPercent, threshold, ratio, low: interval?.low, high: interval?.high, quads, verdict: verdictOf(interval, threshold) }
}

const share = (rows: readonly Row[], verdicts: readonly Verdict[]) => (rows.filter(({ verdict }) => verdicts.includes(verdict)).length / rows.length) * 100

function injectedPairs(device: Device, percent: number, count: number): Pair[] {
  const kinds = device.software ? EMULATED : isGpu(device) ? LARGE : WORK
  const work = kinds.flatMap(({ op, params, mode }) => {
    const threads = device.threads[0]
    const of = (factor: number) => caseOn(device, op, params(factor), mode, threads === undefined ? {} : { threads })
    const [a, b] = [of(1), of(1 + percent / 100)]
    return a && b ? [{ a, b }] : []
  })
  return Array.from({ length: count }, (_, i) => ({ id: `injected-${percent}-${i}`, ...work[i % work.length]! }))
}

/** Of the time a device is given, the share for pairs of a case with itself; each slowdown gets an equal part of the rest. */
const OWN_SHARE = 0.7
const SAY_EVERY_MS = 10_000

/** Compares pairs until all are or `seconds` are over, at least one; says how far it is every few seconds. */
async function inTime<T>(pairs: readonly Pair[], seconds: number, about: string, say: (text: string) => void, compare: (pair: Pair) => Promise<T>): Promise<T[]> {
  const from = performance.now()
  let said = from
  const done: T[] = []
  say(`${about}: ${pairs.length} pairs${Number.isFinite(seconds) ? `, at most ${Math.round(seconds)} s` : ''}`)
  for (const pair of pairs) {
    done.push(await compare(pair))
    const now = performance.now()
    if (now - from > seconds * 1000) break
    if (now - said > SAY_EVERY_MS) {
      said = now
      say(`${about}: ${done.length} of ${pairs.length} pairs in ${Math.round((now - from) / 1000)} s`)
    }
  }
  return done
}

/**
 * A case against itself, and against itself with 1, 2 and 5 % more work, by interleaved ABBA blocks and the product's own
 * verdicts. devices=cpu | cuda:0 | webgpu:0; pairs=300 A/A pairs; injected=100 pairs for each slowdown;
 * block=0.005 seconds of a block; quads=40 at most, own=40 for a case with itself (8 are what the product's self-check takes); limit=Infinity seconds for each device: what was compared by then is judged.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const pairs = Number(args['pairs'] ?? 300)
  const injected = Number(args['injected'] ?? 100)
  const settings = { seconds: Number(args['block'] ?? 0.005), maxQuads: Number(args['quads'] ?? INTERLEAVE.maxQuads) }
  const ownSettings = { ...settings, maxQuads: Number(args['own'] ?? settings.maxQuads) }
  const limit = Number(args['limit'] ?? Infinity)
  const bed = await openBed(args)
  try {
    const rows: Row[] = []
    const figures: Figure[] = []
    for (const device of bed.devices) {
      const own = await inTime(selfCheckPairs([device], pairs), limit * OWN_SHARE, `${device.id}: a case with itself`, say, (pair) => compared(bed, pair, 0, THRESHOLD, ownSettings))
      // The same data, judged as finely as the smallest injected slowdown is.
      const fine = own.map((row) => ({ ...row, verdict: verdictOf(row.low === undefined || row.high === undefined ? undefined : { low: row.low, high: row.high }, INJECTED[0].threshold) }))
      const away = own.map(({ ratio }) => Math.abs(ratio - 1) * 100)
      figures.push(
        { name: `${device.id}: false verdicts in ${own.length} pairs of a case with itself, threshold 1 %`, value: share(own, ['faster', 'slower']), unit: '%', aim: 1, better: 'less' },
        { name: `${device.id}: of those pairs, same`, value: share(own, ['same']), unit: '%' },
        { name: `${device.id}: of those pairs, ambiguous`, value: share(own, ['ambiguous']), unit: '%', published: true },
        { name: `${device.id}: false verdicts of those pairs, threshold 0.5 %`, value: share(fine, ['faster', 'slower']), unit: '%', aim: 1, better: 'less' },
        { name: `${device.id}: noise floor, median absolute deviation of the ratio from 1`, value: quantile(away, 0.5)!, unit: '%', published: true },
        { name: `${device.id}: noise floor, 95th percentile of that`, value: quantile(away, 0.95)!, unit: '%', published: true },
      )
      rows.push(...own)
      for (const { percent, share: aim, threshold } of INJECTED) {
        const seconds = (limit * (1 - OWN_SHARE)) / INJECTED.length
        const found = await inTime(injectedPairs(device, percent, injected), seconds, `${device.id}: +${percent} %`, say, (pair) => compared(bed, pair, percent, threshold, settings))
        const ratios = found.map(({ ratio }) => (ratio - 1) * 100)
        figures.push(
          { name: `${device.id}: +${percent} % found in ${found.length} pairs, threshold ${threshold * 100} %`, value: share(found, ['slower']), unit: '%', aim: aim * 100, better: 'more' },
          { name: `${device.id}: +${percent} % measured as, median`, value: quantile(ratios, 0.5)!, unit: '%', published: true },
        )
        rows.push(...found)
      }
    }
    return { figures: [...figures, loadFigure()], rows, devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench
