import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Rows of a bench by name, each in the file before the next is measured: a call whose time ended is gone on with by the next one. */
export class Journal<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #begun = new Set<string>()

  /** Without a file nothing is kept. */
  constructor(private readonly file: string | undefined) {
    if (file === undefined || !existsSync(file)) return
    const text = readFileSync(file, 'utf8')
    for (const line of text.split('\n')) {
      try {
        const { name, row } = JSON.parse(line) as { name: string; row?: Row }
        if (row === undefined) this.#begun.add(name)
        else this.#rows.set(name, row)
      } catch {
        // The line that was being written when the call ended.
      }
    }
    if (!text.endsWith('\n')) appendFileSync(file, '\n')
  }

  get(name: string): Row | undefined {
    return this.#rows.get(name)
  }

  /** Notes that this is about to be measured. False where an earlier call was ended in it: it would hang this one as well. */
  begin(name: string): boolean {
    if (this.#begun.has(name)) return false
    this.#write({ name })
    return true
  }

  add(name: string, row: Row): Row {
    this.#rows.set(name, row)
    this.#write({ name, row })
    return row
  }

  #write(line: { name: string; row?: Row }): void {
    if (this.file === undefined) return
    mkdirSync(dirname(this.file), { recursive: true })
    appendFileSync(this.file, `${JSON.stringify(line)}\n`)
  }
}
