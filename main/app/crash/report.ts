import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { REDACTIONS, redactIn, type KnownNames } from '@core/formats/redact'
import { makeFolder } from '../../paths'
import { writeFileAtomic } from '../../write-file'

/** Reports that are kept; older ones are deleted. */
const MAX_REPORTS = 10
/** Reports that one start of the app writes at most. */
const MAX_OF_A_START = 20
/** The same fault again within this time is not reported again. */
const QUIET_MS = 60_000

/** A fault of the app, not of what it measures. */
export interface Fault {
  /** In words: `An error in the main process`. */
  what: string
  /** With its stack where there is one. */
  error?: unknown
}

/** What a report is made of, apart from the fault. */
export interface ReportSources {
  /** Folder of all reports; made when first needed. */
  folder: string
  /** Last lines that the app has written to its log. */
  log(): readonly string[]
  /** The environment record (main/environment). */
  environment(): unknown
  versions: Readonly<Record<string, string | undefined>>
  /** Names that must not be in a report. */
  names: KnownNames
  /** Folder of the program, which stack frames name. */
  program: string
  now?(): Date
}

/** A report that was written: a folder of text files on this machine. Nothing is sent anywhere. */
export interface Report {
  what: string
  /** ISO 8601 */
  at: string
  folder: string
}

const describe = (error: unknown): string => (error instanceof Error ? [error.stack ?? `${error.name}: ${error.message}`, ...(error.cause === undefined ? [] : [`Cause: ${describe(error.cause)}`])].join('\n') : String(error))

const ALL = new Set(REDACTIONS)

/** Writes reports of faults, each in a folder of its own, without names of persons and machines, paths and ids. */
export class CrashReports {
  #last: Report | undefined
  readonly #told = new Map<string, number>()
  #written = 0

  constructor(private readonly sources: ReportSources) {}

  /** The newest report of this start. */
  get last(): Report | undefined {
    return this.#last
  }

  /** Undefined where the same was reported just before, or the report cannot be written: a fault must not cause another. */
  write({ what, error }: Fault): Report | undefined {
    const { folder, log, environment, versions, now = () => new Date() } = this.sources
    const date = now()
    const text = error === undefined ? what : `${what}\n\n${describe(error)}`
    if (this.#written >= MAX_OF_A_START || date.getTime() - (this.#told.get(text) ?? -Infinity) < QUIET_MS) return undefined
    this.#told.set(text, date.getTime())
    this.#written++
    const at = date.toISOString()
    const own = join(folder, at.slice(0, 19).replaceAll(':', '-'))
    try {
      makeFolder(folder)
      makeFolder(own)
      const write = (name: string, content: string) => writeFileAtomic(join(own, name), [content])
      write('fault.txt', `${this.#clean(text)}\n`)
      write('log.txt', `${log().map((line) => this.#clean(line)).join('\n')}\n`)
      write('versions.json', JSON.stringify(versions, undefined, 2))
      write('environment.json', JSON.stringify(redactIn(environment(), ALL, this.sources.names), undefined, 2))
      this.#forgetOld()
    } catch {
      return undefined
    }
    return (this.#last = { what, at, folder: own })
  }

  /** Frames keep the place within the program; everything else that is a path goes. */
  #clean(text: string): string {
    const relative = text.replaceAll('file://', '').replaceAll(this.sources.program, 'opscope:')
    return redactIn(relative, ALL, this.sources.names)
  }

  #forgetOld(): void {
    const { folder } = this.sources
    const names = existsSync(folder) ? readdirSync(folder).sort() : []
    for (const name of names.slice(0, -MAX_REPORTS)) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** Keeps the last lines written to a stream, which still gets all of them. */
export function keepLines(stream: { write(chunk: string | Uint8Array, ...rest: never[]): boolean }, most = 400): () => readonly string[] {
  const lines: string[] = []
  const write = stream.write.bind(stream)
  stream.write = (chunk, ...rest) => {
    lines.push(...String(chunk).split('\n').filter((line) => line !== ''))
    lines.splice(0, Math.max(0, lines.length - most))
    return write(chunk, ...rest)
  }
  return () => lines
}
