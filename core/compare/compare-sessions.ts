import { caseId, type BenchmarkCase } from '../case'
import type { Row } from '../session/rows'
import type { Environment } from '../session/types'
import { medianRatio } from '../stats/bootstrap'
import { geometricMean } from '../stats/geometric-mean'
import { environmentDifferences } from './environments'
import type { CompareCell, Comparison } from './types'
import { THRESHOLD, verdictOf } from './verdict'

/** One session as the comparison needs it. */
export interface ComparedSession {
  id: string
  name: string
  createdAt: string
  environment: Environment
  /** All results in the order measured, without samples. */
  rows: Iterable<Row>
}

/** A row that can be ranked: measured and right. */
type Measured = Row & { medianNs: number }

const isMeasured = (row: Row): row is Measured => row.status === 'ok' && row.medianNs !== undefined && row.medianNs > 0

/** The row that stands for each case: the last right one, else the last one. */
function byCase(rows: Iterable<Row>): Map<string, Row> {
  const found = new Map<string, Row>()
  const identities = new Map<BenchmarkCase, string>()
  for (const row of rows) {
    let id = identities.get(row.case)
    if (id === undefined) identities.set(row.case, (id = caseId(row.case)))
    const before = found.get(id)
    if (!before || isMeasured(row) || !isMeasured(before)) found.set(id, row)
  }
  return found
}

const why = (row: Row) => (row.status === 'ok' ? 'it has no time' : `its result is “${row.status}”${row.message ? `: ${row.message.replace(/\.$/, '')}` : ''}`)

/**
 * Compares sessions case by case with the first one. `samplesOf` gives the raw samples of a result, from which each
 * ratio of medians gets its bootstrap interval. Wrong, failed and skipped results are never ranked; they are listed as
 * unmatched with the reason.
 */
export function compareSessions(sessions: readonly ComparedSession[], samplesOf: (resultId: string) => ArrayLike<number>, threshold = THRESHOLD): Comparison {
  const sides = sessions.map((session) => byCase(session.rows))
  const [baseline, ...others] = sides
  const rows: Comparison['rows'] = []
  const unmatched: Comparison['unmatched'] = []
  const used = new Set<string>()
  const leave = (side: number, c: BenchmarkCase, reason: string) => unmatched.push({ sessionId: sessions[side]!.id, case: c, reason })

  for (const [id, base] of baseline ?? []) {
    if (!isMeasured(base)) {
      leave(0, base.case, `Left out: ${why(base)}.`)
      continue
    }
    const partners = others.map((side) => side.get(id))
    partners.forEach((row, i) => row && !isMeasured(row) && leave(i + 1, row.case, `Left out: ${why(row)}.`))
    if (!partners.some((row) => row && isMeasured(row))) {
      if (partners.every((row) => row === undefined)) leave(0, base.case, 'No other session has this case.')
      continue
    }
    const samples = samplesOf(base.id)
    const cells = partners.map((row) => (row && isMeasured(row) ? cellOf(row, samplesOf(row.id), base, samples, threshold) : null))
    rows.push({ caseId: id, case: base.case, cells: [{ resultId: base.id, medianNs: base.medianNs }, ...cells] })
    used.add(`${base.case.backend}/${base.case.device}`)
  }
  others.forEach((side, i) => {
    for (const [id, row] of side) if (!baseline!.has(id)) leave(i + 1, row.case, isMeasured(row) ? 'The baseline does not have this case.' : `The baseline does not have this case, and ${why(row)}.`)
  })

  return {
    sessions: sessions.map(({ id, name, createdAt }) => ({ id, name, createdAt })),
    rows,
    unmatched,
    overall: sessions.map((_, side) => (side === 0 ? null : overallOf(rows.map((row) => row.cells[side])))),
    environmentDifferences: environmentDifferences(sessions, used),
  }
}

function cellOf(row: Measured, samples: ArrayLike<number>, base: Measured, baseSamples: ArrayLike<number>, threshold: number): CompareCell {
  const cell: CompareCell = { resultId: row.id, medianNs: row.medianNs }
  const compared = medianRatio(samples, baseSamples)
  // An imported result may hold a summary without samples: its ratio stands, without an interval.
  cell.ratio = compared?.ratio ?? row.medianNs / base.medianNs
  if (compared?.interval) {
    cell.ratioLow = compared.interval.low
    cell.ratioHigh = compared.interval.high
  }
  cell.verdict = verdictOf(compared?.interval, threshold)
  return cell
}

function overallOf(cells: readonly (CompareCell | null | undefined)[]): { ratio: number; cases: number } | null {
  const ratios = cells.flatMap((cell) => (cell?.ratio === undefined ? [] : [cell.ratio]))
  const ratio = geometricMean(ratios)
  return ratio === undefined ? null : { ratio, cases: ratios.length }
}
