import { caseId, type BenchmarkCase } from '../case'
import { chooseSamples } from '../measure/result/labels'
import { roundPasses, type RoundPasses } from '../measure/result/rounds'
import type { Result } from '../result'
import type { Row } from '../session/rows'

/** What a comparison reads of a result with its samples. */
export type ComparedResult = Pick<Result, 'id' | 'samplesNs' | 'labels' | 'clocksMhz' | 'run' | 'block' | 'rounds' | 'deviceStates' | 'energy'>
export type ResultOf = (resultId: string) => ComparedResult

/** A row that can be ranked: measured and right. */
export type MeasuredRow = Row & { medianNs: number }
export const isMeasured = (row: Row): row is MeasuredRow => row.status === 'ok' && row.medianNs !== undefined && row.medianNs > 0

/** The rows of one case on one side. */
export interface Entry {
  case: BenchmarkCase
  rows: Row[]
}

/** Rows by case identity, in the order first met. */
export function byCase(rows: Iterable<Row>): Map<string, Entry> {
  const found = new Map<string, Entry>()
  const identities = new Map<BenchmarkCase, string>()
  for (const row of rows) {
    let id = identities.get(row.case)
    if (id === undefined) identities.set(row.case, (id = caseId(row.case)))
    const entry = found.get(id)
    if (entry) entry.rows.push(row)
    else found.set(id, { case: row.case, rows: [row] })
  }
  return found
}

/** One fresh-process run of a case: its clean samples in the order taken, in ns and, where known, in SM cycles. */
export interface Run {
  ns: ArrayLike<number>
  cycles?: ArrayLike<number>
  clocksMhz?: ArrayLike<number>
}

/** One side of a compared case. */
export interface Measured {
  /** Row and result that stand for it: the last right one. */
  row: MeasuredRow
  runs: Run[]
  /** The results of those runs, in order, and what was measured of each in interleaved rounds. */
  results: ComparedResult[]
  rounds: (RoundPasses | undefined)[]
}

/** The samples that count of a result: clean ones (core/measure/result/labels.ts). */
export function runOf(result: Pick<Result, 'samplesNs' | 'labels' | 'clocksMhz' | 'rounds'>): Run {
  const { used, setAside } = chooseSamples(result.labels, result.samplesNs.length, result.rounds)
  const counted = (values: number[]) => (setAside ? values.filter((_, i) => used[i] === 1) : values)
  const ns = counted(result.samplesNs)
  const clocksMhz = result.clocksMhz?.length === result.samplesNs.length ? counted(result.clocksMhz) : undefined
  const cycles = clocksMhz && cyclesOf({ samplesNs: ns, clocksMhz })
  return { ns, ...(cycles && clocksMhz ? { cycles, clocksMhz } : {}) }
}

/** Why an entry cannot be ranked, as the end of a sentence. */
export function whyNotMeasured({ rows }: Entry): string {
  const row = rows.at(-1)
  if (!row || row.status === 'ok') return 'it has no time'
  return `its result is “${row.status}”${row.message ? `: ${row.message.replace(/\.$/, '')}` : ''}`
}

/**
 * The results that stand for a case, of its right ones in the order measured: the last of each run of the sweep, and where results name no run
 * the last. What is said of a case measured several times rests on all of these, in comparisons, answers, charts and reports alike.
 */
export const standing = <T extends { run?: number | undefined }>(results: readonly T[]): T[] =>
  results.every(({ run }) => run === results[0]!.run) ? results.slice(-1) : [...new Map(results.map((result) => [result.run, result])).values()]

/**
 * A case with its samples: those that stand for it. Undefined when only interleaved blocks are left, which count for their pair alone.
 */
export function measuredOf(entry: Entry, resultOf: ResultOf): Measured | undefined {
  const found = standing(entry.rows.filter(isMeasured).flatMap((row) => {
    const result = resultOf(row.id)
    return result.block ? [] : [{ row, result, run: result.run }]
  }))
  const last = found.at(-1)
  return last && { row: last.row, runs: found.map(({ result }) => runOf(result)), results: found.map(({ result }) => result), rounds: found.map(({ result }) => roundPasses(result)) }
}

/** Cycles per call: ns * MHz / 1000; undefined where a sample has no clock. */
export function cyclesOf({ samplesNs, clocksMhz }: { samplesNs: ArrayLike<number>; clocksMhz?: ArrayLike<number> | undefined }): Float64Array | undefined {
  if (clocksMhz?.length !== samplesNs.length) return undefined
  const cycles = Float64Array.from(samplesNs, (ns, i) => (ns * clocksMhz[i]!) / 1000)
  return cycles.every((value) => value > 0) ? cycles : undefined
}
