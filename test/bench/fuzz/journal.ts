import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

export type Row = Record<string, string | number | undefined>

const rowSchema = z.record(z.string(), z.union([z.string(), z.number()]))
const headSchema = z.record(z.string(), z.string())

/** What must not change between the calls that fill one journal: devices, implementations, the build. */
export type Head = Readonly<Record<string, string>>

/** What tells cases of one bench apart. */
export const rowKey = ({ op, dtype, params }: Row): string => `${String(op)} ${String(dtype)} ${String(params)}`

/**
 * Rows that are written one by one, so that a run that is killed, or whose time is over, goes on where it ended. JSON Lines: the head
 * first, then a row each. A last line that a kill cut off is passed over, and its case measured again.
 */
export class Journal {
  readonly rows: Row[]
  #keys: Set<string>

  private constructor(
    private readonly file: string | undefined,
    rows: Row[],
  ) {
    this.rows = rows
    this.#keys = new Set(rows.map(rowKey))
  }

  /** Opens `file`, or nothing where it is absent: then rows are kept in memory alone. Throws where the file was begun with another head. */
  static open(file: string | undefined, head: Head): Journal {
    if (file === undefined) return new Journal(undefined, [])
    if (!existsSync(file)) appendFileSync(file, `${JSON.stringify(head)}\n`)
    const text = readFileSync(file, 'utf8')
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    if (whole !== text) appendFileSync(file, '\n')
    const [first = '{}', ...lines] = whole.split('\n').filter((line) => line !== '')
    const known = headSchema.parse(JSON.parse(first))
    const other = Object.keys({ ...known, ...head }).find((name) => known[name] !== head[name])
    if (other !== undefined) throw new Error(`${file} was begun with ${other} ${known[other] ?? 'absent'}, and this run has ${head[other] ?? 'none'}: name another file`)
    return new Journal(file, lines.flatMap((line) => parsed(line)))
  }

  has(row: Row): boolean {
    return this.#keys.has(rowKey(row))
  }

  add(row: Row): void {
    this.rows.push(row)
    this.#keys.add(rowKey(row))
    if (this.file !== undefined) appendFileSync(this.file, `${JSON.stringify(row)}\n`)
  }
}

function parsed(line: string): Row[] {
  try {
    return [rowSchema.parse(JSON.parse(line))]
  } catch {
    return []
  }
}
