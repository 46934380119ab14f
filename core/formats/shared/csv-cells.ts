export type Cell = string | number | boolean | undefined

/** Characters that make a spreadsheet take a text cell for a formula. */
const FORMULA = /^'*[=+\-@\t\r]/

/** One field as RFC 4180 quotes it; text that a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvField(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : ''
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One record with its line end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvField).join(',')}\n`
