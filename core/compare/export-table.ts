import { csvText, type Cell } from '../csv'
import { isInside, rowText, shapeOf, sideText } from './case-text'
import { familyOf } from './subset'
import type { Comparison } from './types'

type Row = Comparison['rows'][number]

const CASE_COLUMNS = ['family', 'operation', 'shape', 'parameters', 'dtype', 'backend', 'implementation', 'device', 'mode', 'threads'] as const
const SIDE_COLUMNS = ['side', 'baseline', 'baseline_median_ns', 'baseline_grade', 'median_ns', 'grade', 'speedup', 'speedup_low', 'speedup_high', 'verdict', 'p', 'adjusted_p', 'cycles_speedup', 'runs', 'quads', 'doubt'] as const

const parameters = (params: Row['case']['params']) => Object.entries(params).map(([name, value]) => `${name}=${String(value)}`).join(' ')

function* records(comparison: Comparison, rows: readonly Row[]): Generator<Cell[]> {
  for (const { case: c, cells } of rows) {
    const base = cells[0]
    for (let side = 1; side < cells.length; side++) {
      const cell = cells[side]
      if (!cell) continue
      yield [
        familyOf(c.op), c.op, shapeOf(c), parameters(c.params), c.dtype, c.backend, c.impl, c.device, c.mode, c.threads,
        sideText(comparison, side), sideText(comparison, 0), base?.medianNs, base?.grade, cell.medianNs, cell.grade, cell.speedup, cell.speedupLow, cell.speedupHigh, cell.verdict, cell.p, cell.adjustedP, cell.cyclesSpeedup, cell.runs, cell.quads, cell.doubt,
      ]
    }
  }
}

/** A comparison as CSV (RFC 4180): one record per compared cell, numbers in full, speedups over the baseline (above 1 is faster). */
export const comparisonCsv = (comparison: Comparison, rows: readonly Row[] = comparison.rows): string =>
  csvText([[...CASE_COLUMNS, ...SIDE_COLUMNS], ...records(comparison, rows)])

/** Rows as they are read, for a spreadsheet: a line per case, a few columns per side, separated by tabs. */
export function comparisonTsv(comparison: Comparison, rows: readonly Row[] = comparison.rows): string {
  const inside = isInside(comparison)
  const clean = (value: string) => value.replace(/[\t\r\n]+/g, ' ')
  const number = (value: number | undefined, digits: number) => (value === undefined ? '' : String(Number(value.toPrecision(digits))))
  const head = ['case', `${sideText(comparison, 0)} median ns`, ...comparison.sessions.slice(1).flatMap((_, i) => ['median ns', 'speedup', 'low', 'high', 'verdict', 'grade'].map((title) => `${sideText(comparison, i + 1)} ${title}`))]
  const lines = rows.map(({ case: c, cells }) => [
    rowText(c, inside), number(cells[0]?.medianNs, 6),
    ...cells.slice(1).flatMap((cell) => [number(cell?.medianNs, 6), number(cell?.speedup, 5), number(cell?.speedupLow, 5), number(cell?.speedupHigh, 5), cell?.verdict ?? '', cell?.grade ?? '']),
  ])
  return [head, ...lines].map((cells) => `${cells.map(clean).join('\t')}\n`).join('')
}
