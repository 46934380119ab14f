import { caseId, type BenchmarkCase } from '../../case'
import { operationText, shapeText, threadText, variantText } from '../../case-words'
import { launchKind } from '../../roofline/ceilings'
import { roofFinder, roofline, type RooflinePoint, type Roofs } from '../../roofline/roofline'
import type { Row } from '../../session/rows'
import { fastestFirst, overCases, speedupOf, type RatioOfMedians } from '../timing'
import type { Finding, AdviceInput } from './types'

/** Items by key, in the order first met. */
export function groupBy<T>(items: readonly T[], key: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const k = key(item)
    const group = groups.get(k)
    if (group) group.push(item)
    else groups.set(k, [item])
  }
  return [...groups.values()]
}

/** Operations listed by name; more are counted. */
const MAX_OPS = 6

/** What cases that differ in size alone have in common. */
export const seriesKey = (c: BenchmarkCase): string => [c.op, variantText(c), c.dtype, c.backend, c.impl, c.device, c.mode, c.threads ?? ''].join('|')

/** One kernel: an op and its implementation on a device, at any size, dtype and mode. */
export const kernelKey = (c: BenchmarkCase): string => [c.op, c.backend, c.impl, c.device].join('|')

/** `sum last 4096x4096 f32 cold on cpu avx2, 8 threads`. */
export const caseWords = (c: BenchmarkCase): string => [[operationText(c), shapeText(c), c.dtype, c.mode, 'on', c.device, c.impl].filter(Boolean).join(' '), threadText(c)].filter(Boolean).join(', ')

/** A row that was measured and passed verification. */
export type MeasuredRow = Row & { medianNs: number }
export const isMeasured = (row: Row): row is MeasuredRow => row.status === 'ok' && row.medianNs !== undefined && row.medianNs > 0

/** Time a call would save at `factor` times the speed, in ns. */
export const savedNs = (medianNs: number, factor: number): number => medianNs * (1 - 1 / factor)

/** ` and 4 other cases`; nothing for none. */
export const andOthers = (count: number, one = 'case', many = 'cases'): string => (count === 0 ? '' : ` and ${count} other ${count === 1 ? one : many}`)

/** ` The same holds for 4 other cases of add, exp.`; nothing for none. */
function alsoText(others: readonly BenchmarkCase[]): string {
  if (others.length === 0) return ''
  const ops = [...new Set(others.map(({ op }) => op))]
  const named = ops.length > MAX_OPS ? `${ops.length} operations` : ops.join(', ')
  return ` The same holds for ${others.length} other ${others.length === 1 ? 'case' : 'cases'} of ${named}.`
}

/** The finding of a group whose members each could be `factor` times as fast. The sentence names the member with the most time to save; `others` is a sentence about the rest. */
export function withGain<T extends { row: MeasuredRow; factor: number }>(group: readonly T[], how: string, describe: (worst: T, others: string) => Pick<Finding, 'rule' | 'severity' | 'title' | 'sentence' | 'evidence'>): Finding {
  const ordered = [...group].sort((a, b) => savedNs(b.row.medianNs, b.factor) - savedNs(a.row.medianNs, a.factor))
  const worst = ordered[0]!
  return {
    ...describe(worst, alsoText(ordered.slice(1).map(({ row }) => row.case))),
    rows: ordered.map(({ row }) => row.id),
    gain: { factor: worst.factor, how, savedNs: ordered.reduce((sum, { row, factor }) => sum + savedNs(row.medianNs, factor), 0) },
  }
}

/** A row and the fastest row of another implementation that did the same on the same device. */
export interface Rivals {
  row: MeasuredRow
  other: MeasuredRow
  /** Of `other` over `row`: above 1, it is faster. */
  speedup: RatioOfMedians
}

/**
 * What stands for a case: its runs as everywhere (overCases); of blocks of ABBA quads, which are no runs, the middle one, with an interval that holds
 * the medians of all. The fastest of many would win by chance.
 */
function typicalOf(again: readonly MeasuredRow[]): MeasuredRow {
  if (again.length === 1 || again.some(({ run }) => run !== undefined)) return overCases(again)[0]!
  const sorted = [...again].sort((a, b) => a.medianNs - b.medianNs)
  const middle = sorted[(sorted.length - 1) >> 1]!
  return { ...middle, ciLowNs: Math.min(middle.ciLowNs ?? Infinity, sorted[0]!.medianNs), ciHighNs: Math.max(middle.ciHighNs ?? 0, sorted.at(-1)!.medianNs) }
}

/** Every case that another implementation beat, with the fastest one. Modes and thread counts are not mixed. */
export function rivals(rows: readonly Row[]): Rivals[] {
  return groupBy(rows.filter(isMeasured), (row) => caseId({ ...row.case, impl: '*' })).flatMap((all) => {
    const group = groupBy(all, (row) => row.case.impl).map(typicalOf)
    const [best] = fastestFirst(group) as [MeasuredRow]
    return group.flatMap((row): Rivals[] => {
      const speedup = row.case.impl === best.case.impl ? undefined : speedupOf(best, row)
      return speedup && speedup.ratio > 1 ? [{ row, other: best, speedup }] : []
    })
  })
}

/** A measured row under the roofs of its device. */
export interface Placed {
  row: MeasuredRow
  point: RooflinePoint
  roofs: Roofs
  /** Share of the time that a call which does next to nothing takes; absent where no launch was measured. */
  launchShare?: number
  /** Why a ceiling it is judged by may not be today's. */
  stale?: string
}

/** Every measured row of a device whose ceilings are known. */
export function placed({ rows, ceilings }: AdviceInput): Placed[] {
  const roofsAt = roofFinder(ceilings)
  const known = new Map<string, string | undefined>()
  return rows.filter(isMeasured).flatMap((row): Placed[] => {
    const { backend, device } = row.case
    const key = `${backend}|${device}`
    if (!known.has(key)) known.set(key, ceilings.find((c) => c.backend === backend && c.device === device && c.stale !== undefined)?.stale)
    const stale = known.get(key)
    const roofs = roofsAt(row.case)
    const point = roofline({ bytes: row.bytes ?? 0, flops: row.flops ?? 0, medianNs: row.medianNs }, roofs)
    if (!point) return []
    const launchShare = roofs.launchSeconds === undefined ? undefined : Math.min(1, (roofs.launchSeconds * 1e9) / row.medianNs)
    return [{ row, point, roofs, ...(launchShare === undefined ? {} : { launchShare }), ...(stale === undefined ? {} : { stale }) }]
  })
}

/** Launch cost inside a graph on the device of a row, in ns, where it was measured. */
export const graphLaunchNs = ({ ceilings }: AdviceInput, { case: c }: MeasuredRow): number | undefined => {
  const found = ceilings.find((one) => one.backend === c.backend && one.device === c.device && one.kind === launchKind('graph'))
  return found && found.value * 1e9
}
