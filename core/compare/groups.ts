import type { BenchmarkCase } from '../case'
import { geometricMean } from '../stats/geometric-mean'
import { shapeOf } from './case-text'
import { familyOf } from './subset'
import type { Comparison, Verdict } from './types'

/** What rows of a comparison can be gathered by. */
export type Grouping = 'family' | 'op' | 'size'

type Row = Comparison['rows'][number]

/** How many cells got each verdict. */
export type VerdictCounts = Record<Verdict, number>

/** One side of some rows: geometric mean of its speedups (absent without any), the number of cases, and their verdicts. */
export interface SideSummary {
  speedup?: number
  cases: number
  counts: VerdictCounts
}

export interface Group {
  key: string
  rows: Row[]
  /** By side; null for the baseline. */
  sides: (SideSummary | null)[]
}

/** Which group a case belongs to. */
export function groupKey(by: Grouping, c: BenchmarkCase): string {
  if (by === 'size') return shapeOf(c)
  return by === 'op' ? c.op : familyOf(c.op)
}

export function summarizeSide(rows: readonly Row[], side: number): SideSummary {
  const counts: VerdictCounts = { faster: 0, slower: 0, same: 0, ambiguous: 0 }
  const speedups: number[] = []
  for (const { cells } of rows) {
    const cell = cells[side]
    if (cell?.verdict) counts[cell.verdict]++
    if (cell?.speedup !== undefined) speedups.push(cell.speedup)
  }
  const speedup = geometricMean(speedups)
  return { ...(speedup === undefined ? {} : { speedup }), cases: speedups.length, counts }
}

const elements = (c: BenchmarkCase) => Object.values(c.params).reduce<number>((product, value) => (typeof value === 'number' ? product * value : product), 1)

/** The rows by group, each group with its own means. Sizes come in ascending order, others as first met. */
export function groupRows(rows: readonly Row[], by: Grouping, sides: number): Group[] {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const key = groupKey(by, row.case)
    const known = found.get(key)
    if (known) known.push(row)
    else found.set(key, [row])
  }
  const groups = [...found].map(([key, members]): Group => ({ key, rows: members, sides: Array.from({ length: sides }, (_, side) => (side === 0 ? null : summarizeSide(members, side))) }))
  return by === 'size' ? groups.sort((a, b) => elements(a.rows[0]!.case) - elements(b.rows[0]!.case)) : groups
}
