import { answerOf, groupRows, type Comparison, type Group } from '@core/compare'
import { formatRatio } from '@core/units'

type CompareRow = Comparison['rows'][number]

/** A row of the plot: an operation with its mean, or one of its cases. `id` is one of its own among all rows. */
export type ForestRow = { kind: 'group'; id: string; group: Group; open: boolean } | { kind: 'case'; id: string; row: CompareRow; last: boolean }

const GROUP = 'group '
/** The id of an operation's row, and the operation of such an id. */
export const groupId = (key: string): string => `${GROUP}${key}`
export const groupOf = (id: string): string | undefined => (id.startsWith(GROUP) ? id.slice(GROUP.length) : undefined)

/** Up to this many rows are all open where the user has closed none. */
const READABLE = 16

/** Where a row stands: its mean or its own speedup, of the first side that has one. */
const effectOf = (speedups: readonly (number | undefined)[]) => speedups.find((speedup) => speedup !== undefined) ?? 1

/** Elements of a case, by which the rows of an operation are in order. */
const elements = ({ case: { params } }: CompareRow) => Object.values(params).reduce<number>((size, value) => (typeof value === 'number' ? size * value : size), 1)

/** Rows that have a speedup, by operation, the fastest operation first; within each by size, then as measured. `open` has the operations whose cases are shown. */
export function forestRows({ rows, sessions }: Comparison, open: ReadonlySet<string>): ForestRow[] {
  const known = rows.filter(({ cells }) => cells.some((cell) => cell?.speedup !== undefined))
  const groups = groupRows(known, 'op', sessions.length).sort((a, b) => effectOf(b.sides.map((side) => side?.speedup)) - effectOf(a.sides.map((side) => side?.speedup)))
  return groups.flatMap((group): ForestRow[] => {
    const shown = open.has(group.key)
    const cases = shown ? group.rows.toSorted((a, b) => elements(a) - elements(b)) : []
    return [{ kind: 'group', id: groupId(group.key), group, open: shown }, ...cases.map((row, i): ForestRow => ({ kind: 'case', id: row.caseId, row, last: i === cases.length - 1 }))]
  })
}

/** The operations that are open where the user has not chosen: all of a short comparison, none of a long one. */
export function openAtFirst({ rows }: Comparison): Set<string> {
  const ops = new Set(rows.map((row) => row.case.op))
  return rows.length + ops.size <= READABLE ? ops : new Set()
}

/** What the plot shows, for those who do not see it: the answers, then the operations by effect. */
export function forestText(comparison: Comparison): string {
  const means = forestRows(comparison, new Set()).flatMap((row) => {
    const mean = row.kind === 'group' ? row.group.sides.find((side) => side?.speedup !== undefined)?.speedup : undefined
    return row.kind === 'group' && mean !== undefined ? [`${row.group.key} ${formatRatio(mean)}`] : []
  })
  return `Forest plot of speedups. ${comparison.sessions.slice(1).map((_, i) => answerOf(comparison, i + 1).sentence).join(' ')} By operation: ${means.join(', ')}.`
}
