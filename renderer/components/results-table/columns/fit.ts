import { baselineOfId } from './speedup'
import type { ShownColumn } from './use-columns'

/** Left out before all others where no row has a figure in it: a column of dashes answers nothing. */
const isExpendableWithoutFigures = (id: string) => baselineOfId(id) !== undefined || EXPENDABLE.some((one) => one === id)
/** Left out in this order where a table has no room for all of its columns; what answers stays. */
const EXPENDABLE = ['verified', 'threads', 'efficiency', 'flop-rate', 'bandwidth', 'status', 'ci', 'grade'] as const
/** Left out after these where all rows have the same value, in this order. */
const EXPENDABLE_WHERE_SAME = ['mode', 'dtype', 'op'] as const
/** Left out last: a table in a strip beside the picks and the details. */
const EXPENDABLE_AT_LAST = ['speedup', 'mode'] as const

/** Px of a letter of a header, and of its margins, its mark of sorting and its menu. */
const [LETTER_PX, MARGIN_PX, MENU_PX] = [6.6, 16, 24]

/** A column at its usual width is as wide as its header needs; one that the user has resized stays as it is. */
export const withHead = <T extends ShownColumn>(shown: T, head: string, menu: boolean): T =>
  shown.width === shown.column.width ? { ...shown, width: Math.max(shown.width, Math.ceil(head.length * LETTER_PX) + MARGIN_PX + (menu ? MENU_PX : 0)) } : shown

/** Px that columns of words can do with. */
const NARROW: Readonly<Record<string, number>> = { op: 84, shape: 92, backend: 122 }

/**
 * The columns that are drawn in so many px: all where they fit, else without those that say least, as few as it takes, and columns of words narrower.
 * Columns in `kept`, such as sorted ones, stay, and so do those that only the user's choice shows; what still does not fit scrolls. `same` has the columns
 * whose rows all have one value, `empty` those in which no row has a figure. A width of 0 is not known yet.
 */
export function fitColumns<T extends ShownColumn>(columns: readonly T[], width: number, kept: ReadonlySet<string>, same: (id: string) => boolean = () => false, empty: (id: string) => boolean = () => false): T[] {
  const fitted = [...columns]
  const slack = ({ column, width: has }: T) => (has === column.width ? Math.max(0, has - (NARROW[column.id] ?? has)) : 0)
  const total = () => fitted.reduce((sum, column) => sum + column.width, 0)
  const least = () => fitted.reduce((sum, column) => sum + column.width - slack(column), 0)
  const leaveOut = (id: string) => {
    const at = fitted.findIndex(({ column }) => column.id === id)
    if (at >= 0 && fitted.length > 1 && !kept.has(id)) fitted.splice(at, 1)
  }
  for (const { column: { id } } of columns) if (width > 0 && total() > width && isExpendableWithoutFigures(id) && empty(id)) leaveOut(id)
  for (const id of EXPENDABLE) if (width > 0 && total() > width) leaveOut(id)
  for (const id of EXPENDABLE_WHERE_SAME) if (width > 0 && least() > width && same(id)) leaveOut(id)
  for (const id of EXPENDABLE_AT_LAST) if (width > 0 && least() > width) leaveOut(id)
  const over = total() - width
  const spare = fitted.reduce((sum, column) => sum + slack(column), 0)
  if (width <= 0 || over <= 0 || spare === 0) return fitted
  return fitted.map((column) => ({ ...column, width: column.width - Math.floor(slack(column) * Math.min(1, (over + fitted.length) / spare)) }))
}
