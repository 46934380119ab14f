/** The next selection after a click or key on `position`, with the modifiers of file managers. */
export interface Pick {
  /** Ctrl or ⌘: add or remove the one row. */
  toggle: boolean
  /** Shift: everything from the anchor to here. */
  range: boolean
}

/** `idAt` gives the id at a position of the order shown; `anchor` is where the last plain pick was. */
export function pickRows(selected: ReadonlySet<string>, position: number, anchor: number, pick: Pick, idAt: (position: number) => string): Set<string> {
  if (pick.range) {
    const next = pick.toggle ? new Set(selected) : new Set<string>()
    for (let i = Math.min(anchor, position); i <= Math.max(anchor, position); i++) next.add(idAt(i))
    return next
  }
  const id = idAt(position)
  if (!pick.toggle) return new Set([id])
  const next = new Set(selected)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Sorts after a click on a header: ascending, descending, none; `add` keeps the other columns. */
export function nextSorts<S extends { column: string; descending: boolean }>(sorts: readonly S[], column: string, add: boolean): { column: string; descending: boolean }[] {
  const current = sorts.find((sort) => sort.column === column)
  const others = add ? sorts.filter((sort) => sort.column !== column) : []
  if (!current) return [...others, { column, descending: false }]
  if (current.descending) return [...others]
  const next = { column, descending: true }
  return add ? sorts.map((sort) => (sort.column === column ? next : sort)) : [next]
}
