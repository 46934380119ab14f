import { computed, nextTick, ref, watch, type ComputedRef } from 'vue'
import { answerOf, type Comparison } from '@core/compare'
import { rowSpan } from '../../../charts/forest/option'
import type { ForestRow } from '../../../charts/forest/rows'
import { caseLineId, type CompareRow, type Place } from '../table/rows'
import { intervalText, lookOf, sideName, speedupText } from '../table/verdict'

/** What the keyboard moves in, and what it does. */
export interface ForestKeys {
  comparison: () => Comparison
  rows: () => readonly ForestRow[]
  /** The table's selection, which is the plot's too. */
  selected: () => Place | undefined
  nameOf: (row: CompareRow) => string
  /** What scrolls the plot. */
  scroller: () => HTMLElement | undefined
  toggle: (key: string, open?: boolean) => void
  open: (caseId: string, side: number) => void
  /** Goes on in the table. */
  leave: () => void
}

/** The keyboard in a forest plot: up and down move through operations and cases, right and left open and close, Enter goes to the table. */
export function useForestKeys({ comparison, rows, selected, nameOf, scroller, toggle, open, leave }: ForestKeys): { marked: ComputedRef<Set<string>>; spoken: ComputedRef<string>; onKey: (event: KeyboardEvent) => void } {
  /** Row that the keyboard is on where it is an operation; of cases the selection of the table. */
  const cursor = ref<string>()
  const selectedCase = computed(() => comparison().rows.find(({ caseId }) => caseLineId(caseId) === selected()?.id))
  const at = computed(() => {
    const id = cursor.value ?? selectedCase.value?.caseId
    return rows().findIndex((row) => row.id === id)
  })
  const side = computed(() => selected()?.side ?? 1)
  const marked = computed(() => new Set([rows()[at.value]?.id, selectedCase.value?.cells[side.value]?.resultId].filter((id) => id !== undefined)))
  watch(selected, (next) => next && (cursor.value = undefined))

  async function go(to: number): Promise<void> {
    const row = rows()[Math.max(0, Math.min(rows().length - 1, to))]
    if (!row) return
    cursor.value = row.kind === 'group' ? row.id : undefined
    if (row.kind === 'case') open(row.row.caseId, side.value)
    await nextTick()
    const host = scroller()
    const { top, bottom } = rowSpan(at.value)
    if (!host) return
    if (top < host.scrollTop) host.scrollTop = top
    else if (bottom > host.scrollTop + host.clientHeight) host.scrollTop = bottom - host.clientHeight
  }

  /** Left closes an operation, and goes from a case to its operation; right opens it. */
  function sideways(right: boolean): void {
    const row = rows()[at.value]
    if (row?.kind === 'group') toggle(row.group.key, right)
    else if (row && !right) void go(rows().findIndex((other) => other.kind === 'group' && other.group.rows.includes(row.row)))
  }

  function enter(): void {
    const row = rows()[at.value]
    if (row?.kind === 'group') toggle(row.group.key)
    else if (row) leave()
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest('button')) return
    const page = Math.max(1, Math.floor((scroller()?.clientHeight ?? 200) / 20) - 3)
    const moves: Readonly<Record<string, () => unknown>> = {
      ArrowDown: () => go(at.value + 1), ArrowUp: () => go(at.value - 1), Home: () => go(0), End: () => go(rows().length - 1), PageDown: () => go(at.value + page), PageUp: () => go(at.value - page),
      ArrowRight: () => sideways(true), ArrowLeft: () => sideways(false), Enter: enter, ' ': enter,
    }
    const move = moves[event.key]
    if (!move) return
    event.preventDefault()
    void move()
  }

  /** The row that the keyboard is on, for those who do not see it. */
  const spoken = computed(() => {
    const row = rows()[at.value]
    if (!row) return ''
    if (row.kind === 'group') return `${row.group.key}, ${row.open ? 'open' : 'closed'}. ${comparison().sessions.slice(1).map((_, i) => answerOf({ ...comparison(), rows: row.group.rows }, i + 1).sentence).join(' ')}`
    const cell = row.row.cells[side.value]
    return `${nameOf(row.row)}: ${cell ? `${sideName(comparison(), side.value)} ${speedupText(cell)}, 95 % CI ${intervalText(cell) || 'unknown'}, ${lookOf(cell)?.word ?? 'no verdict'}` : 'no result'}`
  })

  return { marked, spoken, onKey }
}
