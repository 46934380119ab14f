import Papa from 'papaparse'

/** One cell of a table. Absent cells and numbers that are not finite are written as empty cells. */
export type Cell = string | number | boolean | undefined

/**
 * Text that a spreadsheet would run as a formula. Apostrophes before it count too: text that begins with them gets one
 * more when it is written, so that `plainText` restores it exactly.
 */
const FORMULA = /^'*[=+\-@\t\r]/

/** Records as CSV (RFC 4180), each with its line end. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return ''
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' && !Number.isFinite(cell) ? undefined : cell)))
  return `${Papa.unparse(cells, { newline: '\n', escapeFormulae: FORMULA })}\n`
}

/** A table with a header line as CSV. */
export const csvTable = (header: readonly string[], rows: readonly (readonly Cell[])[]): string => csvText([header, ...rows])

/** A text cell without the apostrophe that `csvText` puts before formulas. */
export const plainText = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell)

/** One record of a CSV file, with the line (from 1) it begins on. */
export interface CsvRecord {
  line: number
  cells: string[]
}

export type CsvOutcome = { ok: true; records: CsvRecord[] } | { ok: false; message: string }

/** Most columns that are read; no benchmark writes more. */
const MAX_COLUMNS = 2000

/**
 * Records as RFC 4180 quotes them; LF, CRLF and CR end a line, empty lines are left out. Refuses a quote that is never
 * closed or that text follows, and more than 2000 columns.
 */
export function readCsv(text: string): CsvOutcome {
  // CRLF is read as LF and its CR removed below, so that files with both line ends are read too.
  const newline = text.includes('\n') ? '\n' : '\r'
  const records: CsvRecord[] = []
  let problem: string | undefined
  let line = 1
  let from = 0
  const linesUpTo = (end: number) => {
    let count = 0
    for (let at = text.indexOf(newline, from); at !== -1 && at < end; at = text.indexOf(newline, at + 1)) count++
    return count
  }
  Papa.parse<string[]>(text, {
    delimiter: ',',
    newline,
    step: ({ data: cells, errors: [error], meta: { cursor } }, parser) => {
      if (error) {
        const at = error.index ?? from
        problem = `line ${line + linesUpTo(at)}: expected ${error.code === 'MissingQuotes' ? 'a closing quote, received the end of the file' : `a comma or the end of the line behind the closing quote of a cell, received ${JSON.stringify(text.slice(at - 1, at + 20))}`}`
      } else if (cells.length > MAX_COLUMNS) problem = `line ${line}: more than ${MAX_COLUMNS} columns`
      if (problem !== undefined) return parser.abort()
      const last = cells.at(-1)!
      const end = text[cursor - 1] === newline ? cursor - 1 : cursor
      // The CR of a CRLF is part of an unquoted last cell; one inside quotes stays.
      if (last.endsWith('\r') && text[end - 1] === '\r' && (text[end - 2] !== '"' || last.endsWith('"\r'))) cells[cells.length - 1] = last.slice(0, -1)
      if (cells.length > 1 || cells[0] !== '') records.push({ line, cells })
      line += linesUpTo(cursor)
      from = cursor
    },
  })
  return problem === undefined ? { ok: true, records } : { ok: false, message: problem }
}
