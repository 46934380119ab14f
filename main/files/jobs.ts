import { identifying, type Identifying, type Redaction } from '@core/formats/redact'
import { exportStream, importSession, prepareExport } from '@core/formats/registry'
import type { Result } from '@core/result'
import type { SessionFile } from '@core/session/types'
import type { ImportedSession } from '../history/types'
import { joinHistory } from '../history'
import { readText } from '../import/read-text'
import type { SqliteHistory } from '../history/sqlite-history'
import { writeBeside } from '../write-file'

/**
 * What a process of its own is asked to do with a file. `from`: a path, or the bytes; `history`: path of the history's
 * file; `temporary`: where all is written that main then puts at `path`.
 */
export type FileJob =
  | { kind: 'import'; history: string; name: string; from: string | Uint8Array }
  | { kind: 'open'; name: string; from: string | Uint8Array }
  | { kind: 'export'; history: string; id: string; format: string; leaveOut: readonly Redaction[]; users: readonly string[]; path: string; temporary: string }
  | { kind: 'identify'; history: string; id: string; users: readonly string[] }

/** What each kind of job gives. A file that is opened gives its results before, in `results` answers. */
export interface FileJobResult {
  import: ImportedSession
  open: Omit<SessionFile, 'results'>
  export: undefined
  identify: Identifying[]
}

/** `refused`: the file is at fault; the message names it. `failed`: something else is. Shares are from 0 to 1. */
export type FileJobAnswer =
  | { kind: 'progress'; share: number }
  | { kind: 'results'; results: Result[] }
  /** What of the file contradicted itself; before `done`. */
  | { kind: 'warnings'; warnings: string[] }
  | { kind: 'done'; value: FileJobResult[FileJob['kind']] }
  | { kind: 'refused' | 'failed'; message: string }

type Tell = (answer: FileJobAnswer) => void
type Of<K extends FileJob['kind']> = FileJob & { kind: K }

/** Shares of an import at which the file is read, and parsed and checked: measured with 100,000 results. */
const READ = 0.05
const PARSED = 0.35
/** Results that cross to main at a time: few enough that taking them in keeps no window waiting. */
const RESULTS_AT_ONCE = 250
/** Progress is told this many times at most. */
const STEPS = 100

/** The session in the file; undefined once the refusal has been told. */
function parse({ name, from }: Of<'import' | 'open'>, tell: Tell, parsed: number): SessionFile | undefined {
  const text = readText(from)
  tell({ kind: 'progress', share: READ })
  const outcome = importSession(name, text)
  if (!outcome.ok) return void tell({ kind: 'refused', message: outcome.message })
  if (outcome.warnings) tell({ kind: 'warnings', warnings: outcome.warnings })
  tell({ kind: 'progress', share: parsed })
  return outcome.file
}

function withHistory(file: string, use: (history: SqliteHistory) => void): void {
  const history = joinHistory(file)
  try {
    use(history)
  } finally {
    history.close()
  }
}

/** Tells shares on, each only when it is a step further than the one before. */
function inSteps(tell: Tell): (share: number) => void {
  let told = 0
  return (share) => {
    if (share < told + 1 / STEPS) return
    told = share
    tell({ kind: 'progress', share: Math.min(1, share) })
  }
}

const JOBS: { [K in FileJob['kind']]: (job: Of<K>, tell: Tell) => void | Promise<void> } = {
  import(job, tell) {
    const file = parse(job, tell, PARSED)
    if (!file) return
    const all = Math.max(1, file.results.length)
    withHistory(job.history, (history) => tell({ kind: 'done', value: history.importInSteps(file, (stored) => tell({ kind: 'progress', share: PARSED + ((1 - PARSED) * stored) / all })) }))
  },
  open(job, tell) {
    const file = parse(job, tell, 1)
    if (!file) return
    const { results, ...head } = file
    for (let first = 0; first < results.length; first += RESULTS_AT_ONCE) tell({ kind: 'results', results: results.slice(first, first + RESULTS_AT_ONCE) })
    tell({ kind: 'done', value: head })
  },
  async export({ history: stored, id, format, leaveOut, users, path, temporary }, tell) {
    await prepareExport(format)
    withHistory(stored, (history) => {
      const context = { ceilings: history.ceilings(), leaveOut: new Set(leaveOut), hints: { users } }
      writeBeside(path, exportStream(format, history.streamSession(id), context, inSteps(tell)), temporary)
    })
    tell({ kind: 'done', value: undefined })
  },
  identify({ history: stored, id, users }, tell) {
    withHistory(stored, (history) => tell({ kind: 'done', value: identifying(history.streamSession(id), { users }) }))
  },
}

/** Does the job; ends with one of the last three kinds of answer. Never throws. */
export async function runFileJob<K extends FileJob['kind']>(job: Of<K>, tell: Tell): Promise<void> {
  try {
    await JOBS[job.kind](job, tell)
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}
