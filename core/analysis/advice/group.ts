import { paramText, type BenchmarkCase } from '../../case'
import { findOp } from '../../ops/registry'
import type { Row } from '../../session/rows'
import type { Finding } from './types'

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

/** Files of other tools may have any number of parameters. */
const MOST_WORDS = 4
const MOST_SHAPE = 80

const words = (c: BenchmarkCase) => Object.values(c.params).filter((value) => typeof value === 'string').slice(0, MOST_WORDS)

/** What cases that differ in size alone have in common. */
export const seriesKey = (c: BenchmarkCase): string => [c.op, ...words(c), c.dtype, c.backend, c.impl, c.device, c.mode, c.threads ?? ''].join('|')

/** What is done where, at any size and dtype: kernels of one op are improved together. */
export const kernelKey = (c: BenchmarkCase): string => [c.op, c.backend, c.impl, c.device, c.mode].join('|')

/** `4096x4096`, `16.8M`; as stored where this app does not have the op. */
export function shapeWords(c: BenchmarkCase): string {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  return op && parsed?.success ? op.shapeLabel(parsed.data) : paramText(c.params).slice(0, MOST_SHAPE)
}

const threadWords = ({ threads }: BenchmarkCase) => (threads === undefined ? '' : `${threads} ${threads === 1 ? 'thread' : 'threads'}`)

/** `sum last f32 cold on cpu avx2, 8 threads`: a case without its size. */
export const seriesWords = (c: BenchmarkCase): string => [[c.op, ...words(c), c.dtype, c.mode, 'on', c.device, c.impl].join(' '), threadWords(c)].filter(Boolean).join(', ')

/** `sum last 4096x4096 f32 cold on cpu avx2, 8 threads`. */
export const caseWords = (c: BenchmarkCase): string => [[c.op, ...words(c), shapeWords(c), c.dtype, c.mode, 'on', c.device, c.impl].filter(Boolean).join(' '), threadWords(c)].filter(Boolean).join(', ')

/** A row that was measured and right, with what rules compute with. */
export type MeasuredRow = Row & { medianNs: number }
export const isMeasured = (row: Row): row is MeasuredRow => row.status === 'ok' && row.medianNs !== undefined && row.medianNs > 0

/** What a call would save if it were `factor` times as fast, ns. */
export const savedNs = (medianNs: number, factor: number): number => medianNs * (1 - 1 / factor)

/** `; likewise 4 other cases`; nothing for none. */
const likewise = (count: number): string => (count === 0 ? '' : `; likewise ${count} other ${count === 1 ? 'case' : 'cases'}`)

/** ` and 4 other cases`; nothing for none. */
export const andOthers = (count: number, one: string, many: string): string => (count === 0 ? '' : ` and ${count} other ${count === 1 ? one : many}`)

/** The finding of a group whose members each could be `factor` times as fast: the worst is named, `others` counts the rest in words. */
export function withGain<T extends { row: MeasuredRow; factor: number }>(group: readonly T[], how: string, tell: (worst: T, others: string) => Pick<Finding, 'rule' | 'severity' | 'sentence' | 'evidence'>): Finding {
  const ordered = [...group].sort((a, b) => savedNs(b.row.medianNs, b.factor) - savedNs(a.row.medianNs, a.factor))
  const worst = ordered[0]!
  return {
    ...tell(worst, likewise(group.length - 1)),
    rows: ordered.map(({ row }) => row.id),
    gain: { factor: worst.factor, how, savedNs: ordered.reduce((sum, { row, factor }) => sum + savedNs(row.medianNs, factor), 0) },
  }
}
