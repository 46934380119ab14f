import { oneLine } from '../../printable'

export interface Column<T> {
  title: string
  /** Right-aligned unless text. */
  align?: 'left' | 'right'
  cell(row: T): string
}

/** Width on screen, near enough: combining marks are not expected in what we print. */
const width = (text: string) => [...text].length

/** Rows as a plain-text table, two spaces between columns; a column with nothing in it is left out. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const texts = rows.map((row) => columns.map((column) => oneLine(column.cell(row))))
  const shown = columns.map((_, j) => j).filter((j) => rows.length === 0 || texts.some((row) => row[j] !== ''))
  const lines = [columns.map((column) => column.title), ...texts]
  const widths = columns.map((_, j) => Math.max(...lines.map((line) => width(line[j]!))))
  return lines
    .map((line) =>
      shown
        .map((j) => {
          const fill = ' '.repeat(widths[j]! - width(line[j]!))
          return columns[j]!.align === 'right' ? fill + line[j]! : line[j]! + fill
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
