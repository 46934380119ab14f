import { computed } from 'vue'
import { useSettings } from '../../../stores/settings'
import { COLUMNS, findColumn } from './columns'
import type { Column } from './column'

export interface ShownColumn {
  column: Column
  /** px */
  width: number
}

const MIN_WIDTH = 40

/** Which columns a table shows, in order and with widths; kept in the settings under the table's name. Until the user chooses, optional ones in `asked` show too. */
export function useColumns(table: string, asked: () => readonly string[] = () => []) {
  const settings = useSettings()
  const usual = computed<readonly ShownColumn[]>(() => COLUMNS.filter(({ id, optional }) => !optional || asked().includes(id)).map((column) => ({ column, width: column.width })))

  const shown = computed<readonly ShownColumn[]>(() => {
    const saved = settings.values.columns[table]?.flatMap(({ id, width }) => {
      const column = findColumn(id)
      return column ? [{ column, width: width ?? column.width }] : []
    })
    return saved?.length ? saved : usual.value
  })

  function save(next: readonly ShownColumn[]): void {
    settings.set({ columns: { ...settings.values.columns, [table]: next.map(({ column, width }) => ({ id: column.id, width })) } })
  }

  /** Puts another column in the place of one. */
  function replace(id: string, by: string): void {
    const column = findColumn(by)
    if (column && !isShown(by)) save(shown.value.map((entry) => (entry.column.id === id ? { ...entry, column } : entry)))
  }

  const isShown = (id: string) => shown.value.some(({ column }) => column.id === id)

  function toggle(id: string): void {
    if (isShown(id)) {
      if (shown.value.length > 1) save(shown.value.filter(({ column }) => column.id !== id))
      return
    }
    const column = findColumn(id)
    if (!column) return
    // A column comes back to its usual place: before the first shown one that stands after it in the list.
    const rank = COLUMNS.indexOf(column)
    const at = shown.value.findIndex((other) => COLUMNS.indexOf(other.column) > rank)
    const next = [...shown.value]
    next.splice(at < 0 ? next.length : at, 0, { column, width: column.width })
    save(next)
  }

  const resize = (id: string, width: number) =>
    save(shown.value.map((entry) => (entry.column.id === id ? { ...entry, width: Math.round(Math.max(MIN_WIDTH, width)) } : entry)))

  function move(id: string, by: -1 | 1): void {
    const from = shown.value.findIndex(({ column }) => column.id === id)
    const to = from + by
    if (from < 0 || to < 0 || to >= shown.value.length) return
    const next = [...shown.value]
    ;[next[from], next[to]] = [next[to]!, next[from]!]
    save(next)
  }

  function reset(): void {
    const { [table]: _, ...others } = settings.values.columns
    settings.set({ columns: others })
  }

  /** The columns as they are kept, and others in their place; those that are gone are left out. */
  const read = () => shown.value.map(({ column, width }) => ({ id: column.id, width }))
  const show = (columns: readonly { id: string; width?: number }[]) => save(columns.flatMap(({ id, width }) => { const column = findColumn(id); return column ? [{ column, width: width ?? column.width }] : [] }))

  return { shown, replace, isShown, toggle, resize, move, reset, read, show }
}
