/** One record of a CSV file, with the line (from 1) it begins on. */
export interface CsvRecord {
  line: number
  cells: string[]
}

export type CsvOutcome = { ok: true; records: CsvRecord[] } | { ok: false; message: string }

/** Most columns that are looked at; no benchmark writes more. */
const MAX_COLUMNS = 2000

/**
 * Records as RFC 4180 quotes them; LF, CRLF and CR end a line, empty lines are left out. Refuses a quote that is never
 * closed or that text follows, and more than 2000 columns.
 */
export function readCsv(text: string): CsvOutcome {
  const records: CsvRecord[] = []
  let line = 1
  let at = 0
  while (at < text.length) {
    const record: CsvRecord = { line, cells: [] }
    for (let ended = false; !ended; ) {
      if (record.cells.length >= MAX_COLUMNS) return { ok: false, message: `line ${record.line}: more than ${MAX_COLUMNS} columns` }
      let cell: string
      if (text[at] === '"') {
        const opened = line
        let from = at + 1
        cell = ''
        for (;;) {
          const close = text.indexOf('"', from)
          if (close < 0) return { ok: false, message: `line ${opened}: expected a closing quote, received the end of the file` }
          cell += text.slice(from, close)
          at = close + 1
          if (text[at] !== '"') break
          cell += '"'
          from = at + 1
        }
        line += linesIn(cell)
        if (at < text.length && !/[,\r\n]/.test(text[at]!)) return { ok: false, message: `line ${line}: expected a comma or the end of the line behind a closing quote, received ${JSON.stringify(text.slice(at, at + 12))}` }
      } else {
        const from = at
        while (at < text.length && text[at] !== ',' && text[at] !== '\n' && text[at] !== '\r') at++
        cell = text.slice(from, at)
      }
      record.cells.push(cell)
      ended = text[at] !== ','
      at++
    }
    if (text[at - 1] === '\r' && text[at] === '\n') at++
    line++
    if (record.cells.length > 1 || record.cells[0] !== '') records.push(record)
  }
  return { ok: true, records }
}

const linesIn = (cell: string): number => (cell.match(/\r\n|\r|\n/g) ?? []).length

/** A text cell without the apostrophe that keeps spreadsheets from running it as a formula (csv-cells.ts puts it there). */
export const plainText = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)
