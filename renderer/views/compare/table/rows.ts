import { computed, ref, type ComputedRef, type Ref } from 'vue'
import { groupRows, type CompareAxis, type Comparison, type Group, type Grouping } from '@core/compare'
import type { CompareView } from '@core/session/saved/views'
import { caseTexts } from './verdict'

export type CompareRow = Comparison['rows'][number]
export type RowOrder = CompareView['order']
/** Which cases are shown: all, those with a clear difference, those that need more samples. */
export type RowsShown = CompareView['shown']

export const SHOWN_WORDS: Readonly<Record<RowsShown, string>> = { all: 'All cases', different: 'Only differences', ambiguous: 'Only unclear' }
export const GROUP_WORDS: Readonly<Record<Grouping, string>> = { op: 'operation', family: 'family', size: 'size' }
export const ORDER_WORDS: Readonly<Record<RowOrder, string>> = { measured: 'As measured', effect: 'Largest effect first', slower: 'Slower first', faster: 'Faster first' }

/** A line of the table. `id` is one of its own among all lines. */
export type Line = { kind: 'group'; id: string; group: Group; open: boolean } | { kind: 'case'; id: string; row: CompareRow }
/** The line and side that the keyboard is on. */
export interface Place {
  id: string
  side: number
}

export const caseLineId = (caseId: string): string => `case ${caseId}`
const groupLineId = (key: string) => `group ${key}`

const SHOWN: Readonly<Record<RowsShown, (row: CompareRow) => boolean>> = {
  all: () => true,
  different: (row) => row.cells.some((cell) => cell?.verdict === 'faster' || cell?.verdict === 'slower'),
  ambiguous: (row) => row.cells.some((cell) => cell?.verdict === 'ambiguous'),
}

const speedups = (row: CompareRow) => row.cells.flatMap((cell) => (cell?.speedup === undefined ? [] : [cell.speedup]))
/** By these the largest comes first. */
const RANKS: Readonly<Record<Exclude<RowOrder, 'measured'>, (values: readonly number[]) => number>> = {
  effect: (values) => Math.max(0, ...values.map((speedup) => Math.abs(Math.log(speedup)))),
  slower: (values) => (values.length ? -Math.min(...values) : -1),
  faster: (values) => (values.length ? Math.max(...values) : 1),
}

/** The rows among `rows` that are shown, in order. Each word of `search` has to occur in what the row says. */
export function pickRows(rows: readonly CompareRow[], { search, order, shown, axis }: { search: string; order: RowOrder; shown: RowsShown; axis: CompareAxis | undefined }): CompareRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const text = (row: CompareRow) => {
    const { what, who } = caseTexts(row.case, axis)
    return `${what} ${who} ${row.cells.map((cell) => cell?.verdict ?? '').join(' ')}`.toLowerCase()
  }
  const found = rows.filter((row) => {
    if (!SHOWN[shown](row)) return false
    if (words.length === 0) return true
    const all = text(row)
    return words.every((word) => all.includes(word))
  })
  if (order === 'measured') return found
  const ranked = found.map((row) => ({ row, rank: RANKS[order](speedups(row)) }))
  return ranked.sort((a, b) => b.rank - a.rank).map(({ row }) => row)
}

/** Rows as lines, each group under a line of its own; groups sort by their means where rows sort by their speedups. */
export function linesOf(rows: readonly CompareRow[], by: Grouping | undefined, order: RowOrder, closed: ReadonlySet<string>): Line[] {
  const line = (row: CompareRow): Line => ({ kind: 'case', id: caseLineId(row.caseId), row })
  if (!by) return rows.map(line)
  const groups = groupRows(rows, by, rows[0]?.cells.length ?? 0)
  const means = (group: Group) => group.sides.flatMap((side) => (side?.speedup === undefined ? [] : [side.speedup]))
  if (order !== 'measured') groups.sort((a, b) => RANKS[order](means(b)) - RANKS[order](means(a)))
  return groups.flatMap((group): Line[] => {
    const open = !closed.has(group.key)
    return [{ kind: 'group', id: groupLineId(group.key), group, open }, ...(open ? group.rows.map(line) : [])]
  })
}

/** The lines of a comparison as filtered, ordered and grouped by the user. */
export function useCompareRows(comparison: () => Comparison, axis: () => CompareAxis | undefined): {
  rows: ComputedRef<CompareRow[]>
  lines: ComputedRef<Line[]>
  search: Ref<string>
  order: Ref<RowOrder>
  shown: Ref<RowsShown>
  group: Ref<Grouping | undefined>
  toggle(key: string, open?: boolean): void
  /** Opens or closes all groups. */
  toggleAll(open: boolean): void
} {
  const search = ref('')
  const order = ref<RowOrder>('measured')
  const shown = ref<RowsShown>('all')
  const group = ref<Grouping>()
  const closed = ref<ReadonlySet<string>>(new Set())

  const rows = computed(() => pickRows(comparison().rows, { search: search.value, order: order.value, shown: shown.value, axis: axis() }))
  const lines = computed(() => linesOf(rows.value, group.value, order.value, closed.value))

  function toggle(key: string, open = closed.value.has(key)): void {
    const next = new Set(closed.value)
    if (open) next.delete(key)
    else next.add(key)
    closed.value = next
  }
  const toggleAll = (open: boolean) => {
    closed.value = new Set(open ? [] : lines.value.flatMap((line) => (line.kind === 'group' ? [line.group.key] : [])))
  }
  return { rows, lines, search, order, shown, group, toggle, toggleAll }
}
