import type { BenchmarkCase } from '../../case'
import { meanRatio, type RatioWithInterval } from '../../stats/mean-ratio'
import { shapeText } from '../../case-words'
import { familyOf, thresholdFor, type Comparison, type EnergyVerdict, type Verdict, type CompareCell } from '../types'

/** What rows of a comparison can be gathered by. */
export type Grouping = 'family' | 'op' | 'size'

type Row = Comparison['rows'][number]

/** How many cells got each verdict. */
export type VerdictCounts = Record<Verdict, number>

/** One side of some rows: geometric mean of its speedups (absent without any) with its interval (stats/mean-ratio.ts), the number of cases, and their verdicts. */
export interface SideSummary {
  speedup?: number
  speedupLow?: number
  speedupHigh?: number
  cases: number
  counts: VerdictCounts
  /** Geometric mean of its energy ratios (this / baseline) with its interval; absent where no case has one. */
  energy?: RatioWithInterval & { cases: number; counts: Record<EnergyVerdict, number> }
}

export interface Group {
  key: string
  rows: Row[]
  /** By side; null for the baseline. */
  sides: (SideSummary | null)[]
}

/** Which group a case belongs to. */
export function groupKey(by: Grouping, c: BenchmarkCase): string {
  if (by === 'size') return shapeText(c)
  return by === 'op' ? c.op : familyOf(c.op)
}

export function summarizeSide(rows: readonly Row[], side: number): SideSummary {
  const counts: VerdictCounts = { faster: 0, slower: 0, same: 0, ambiguous: 0 }
  const speedups: RatioWithInterval[] = []
  for (const { cells } of rows) {
    const cell = cells[side]
    if (cell?.verdict) counts[cell.verdict]++
    if (cell?.speedup !== undefined) speedups.push({ ratio: cell.speedup, low: cell.speedupLow, high: cell.speedupHigh })
  }
  const mean = meanRatio(speedups)
  const energy = summarizeEnergy(rows, side)
  return { ...(mean ? { speedup: mean.ratio } : {}), ...(mean?.low === undefined || mean.high === undefined ? {} : { speedupLow: mean.low, speedupHigh: mean.high }), cases: speedups.length, counts, ...(energy ? { energy } : {}) }
}

function summarizeEnergy(rows: readonly Row[], side: number): SideSummary['energy'] {
  const counts: Record<EnergyVerdict, number> = { less: 0, more: 0, same: 0, ambiguous: 0 }
  const cells = rows.flatMap(({ cells }) => cells[side]?.energy ?? [])
  for (const { verdict } of cells) if (verdict) counts[verdict]++
  const mean = meanRatio(cells)
  return mean && { ...mean, cases: cells.length, counts }
}

/** Whether a case of a comparison has its energy on two sides. */
export const hasEnergy = ({ rows }: Pick<Comparison, 'rows'>): boolean => rows.some(({ cells }) => cells.some((cell) => cell?.energy))

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

/** Whether the sides are of one session, along an axis. */
export const isInside = ({ sessions }: Pick<Comparison, 'sessions'>): boolean => sessions.length > 0 && sessions.every(({ value }) => value !== undefined)

/** Name of side i: its value of the axis, else its session. */
export const sideText = ({ sessions }: Pick<Comparison, 'sessions'>, i: number): string => sessions[i]?.value ?? sessions[i]?.name ?? ''

/** A cell that stands out. */
export interface Finding {
  row: Comparison['rows'][number]
  side: number
  cell: CompareCell & { speedup: number }
  /** In force for its operation, as a fraction. */
  threshold: number
}

/** The cells with this verdict, the largest effect first. `slower`: the regressions. */
export function findingsOf(comparison: Comparison, verdict: Verdict): Finding[] {
  const thresholds = { threshold: comparison.threshold, byOp: comparison.opThresholds }
  const found = comparison.rows.flatMap((row) =>
    row.cells.flatMap((cell, side): Finding[] => (cell?.verdict === verdict && cell.speedup !== undefined ? [{ row, side, cell: { ...cell, speedup: cell.speedup }, threshold: thresholdFor(thresholds, row.case.op) }] : [])),
  )
  return found.sort((a, b) => Math.abs(Math.log(b.cell.speedup)) - Math.abs(Math.log(a.cell.speedup)))
}

/** Cases in which a side failed verification, or is too inaccurate to be ranked, and the baseline may have passed. */
export const wrongCases = ({ unmatched }: Comparison): { sessionId: string; case: BenchmarkCase; reason: string }[] => unmatched.filter(({ status, baseline }) => (status === 'wrong' || status === 'inaccurate') && !baseline)

/** What a comparison can be made to fail on. */
export const FAIL_ON = ['slower', 'faster', 'wrong', 'ambiguous'] as const
export type FailOn = (typeof FAIL_ON)[number]

/** How many cases each of these applies to; those that apply to none are left out. */
export function failuresOf(comparison: Comparison, failOn: readonly FailOn[]): { what: FailOn; cases: number }[] {
  return failOn.flatMap((what) => {
    const cases = what === 'wrong' ? wrongCases(comparison).length : comparison.rows.reduce((sum, { cells }) => sum + cells.filter((cell) => cell?.verdict === what).length, 0)
    return cases > 0 ? [{ what, cases }] : []
  })
}
