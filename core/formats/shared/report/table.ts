/** A column of a report's table. */
export interface Head {
  title: string
  /** Numbers stand right and are sorted as numbers. */
  numeric?: boolean
  /** Names and identifiers, in the fixed-width face. */
  mono?: boolean
  /** Sentences: may wrap. */
  wide?: boolean
}

export interface Cell {
  text: string
  /** What a numeric column is sorted by; absent where there is no number. */
  value?: number
  tone?: 'good' | 'bad'
}

/** A table without markup; each row has a cell for each head. */
export interface ReportTable {
  heads: readonly Head[]
  rows: readonly (readonly Cell[])[]
}

/** A cell of a number: its text, and what it is sorted by unless it is not one. */
export const numberCell = (text: string, value: number | undefined): Cell => (value === undefined || !Number.isFinite(value) ? { text } : { text, value })
