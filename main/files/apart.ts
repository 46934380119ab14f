import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import type { Identifying, Redaction } from '@core/formats/redact'
import type { FileWork } from '@core/ipc'
import type { Result } from '@core/result'
import type { SessionFile } from '@core/session/types'
import type { ImportedSession } from '../history/types'
import type { Emit } from '../ipc/register'
import { findProgram } from '../measurement/host'
import type { HostProcess } from '../measurement/link'
import { forkUtilityProcess } from '../measurement/child-process'
import { putInPlace, temporaryFor } from '../write-file'
import type { FileJob, FileJobAnswer, FileJobResult } from './jobs'

/** How work on a file ended: with what it gave, with a problem in words, or (with neither) cancelled. */
export interface Ended<T> {
  value?: T
  problem?: string
  /** What of a file that was read contradicted itself. */
  warnings?: string[]
}

export interface ExportRequest {
  id: string
  format: string
  leaveOut: readonly Redaction[]
  users: readonly string[]
  path: string
  /** Name of the session whose text is copied: the user is told of it instead of the file. */
  copyOf?: string
}

/** What the user is told about a piece of work: nothing of its progress where it has no `work`. */
interface Told {
  work: FileWork | 'identify'
  name: string
}

/** Reads and writes files of sessions in a process of their own, one at a time, and tells the page how far it is. */
export interface FilesApart {
  /** Stores the session of a file as a deleted one: whoever asked for it restores it, and after a cancel nobody does. */
  import(name: string, from: string | Uint8Array): Promise<Ended<ImportedSession>>
  /** Reads a file without storing it. */
  open(name: string, from: string | Uint8Array): Promise<Ended<SessionFile>>
  /** Writes the whole file or none: what stood there before stays until it is complete. */
  export(request: ExportRequest): Promise<Ended<true>>
  identify(id: string, users: readonly string[]): Promise<Ended<Identifying[]>>
  /** Ends the work in progress and resolves once its process is gone: true if nothing of its file stays, false if it was done before or there is none. */
  cancel(): Promise<boolean>
}

/** Starts the process that does the work. */
export type StartFiles = () => Promise<HostProcess<FileJob>>

const startProcess: StartFiles = () => forkUtilityProcess(findProgram('files.js'), process.env, 'Opscope files')

/** Why nothing came of it, in words that name the file. */
const FAILED: Record<FileWork | 'identify', (name: string, reason: string) => string> = {
  import: (name, reason) => `${name}: could not be added to the history (${reason}); nothing of it was imported`,
  open: (name, reason) => `${name}: could not be read (${reason})`,
  export: (name, reason) => `${name} could not be written; nothing was changed (${reason}).`,
  copy: (name, reason) => `${name} could not be copied (${reason}).`,
  identify: (_, reason) => `The session could not be read (${reason}).`,
}

const failed = ({ work, name }: Told, reason: string) => FAILED[work](name, reason)

export function createFilesApart(historyFile: string, emit: Emit, start: StartFiles = startProcess): FilesApart {
  /** Whether that came before the end. */
  let cancel: (() => boolean) | undefined
  let current: Promise<unknown> = Promise.resolve()
  let last: Promise<unknown> = Promise.resolve()

  function tell({ work, name }: Told, share?: number): void {
    if (work !== 'identify') emit('transfer:progress', { work, name, ...(share === undefined ? {} : { share }) })
  }

  /** `T`: what this kind of job gives. */
  function ended<T extends FileJobResult[FileJob['kind']]>(child: HostProcess<FileJob>, job: FileJob, told: Told, onResults: (results: Result[]) => void): Promise<Ended<T>> {
    let warnings: string[] | undefined
    /** The file counts as written from here on, and from here on alone: a cancel comes before this or too late. */
    const done = (value: T): Ended<T> => {
      try {
        if (job.kind === 'export') putInPlace(job.path, job.temporary)
        return { value, ...(warnings ? { warnings } : {}) }
      } catch (error) {
        return { problem: failed(told, error instanceof Error ? error.message : String(error)) }
      }
    }
    return new Promise((resolve) => {
      let stderr = ''
      let outcome: Ended<T> | undefined
      // Ended only once the process is gone: until then it may still write.
      const end = (how: Ended<T>) => {
        outcome ??= how
        child.kill()
      }
      cancel = () => {
        const isFirst = outcome === undefined
        end({})
        return isFirst
      }
      child.onStderr((text) => (stderr = (stderr + text).slice(-2000)))
      child.onMessage((message) => {
        const answer = message as FileJobAnswer
        if (outcome) return
        if (answer.kind === 'progress') {
          tell(told, answer.share)
        } else if (answer.kind === 'warnings') warnings = answer.warnings
        else if (answer.kind === 'results') onResults(answer.results)
        else if (answer.kind === 'done') end(done(answer.value as T))
        else end({ problem: answer.kind === 'refused' ? answer.message : failed(told, answer.message) })
      })
      child.onExit((reason) => resolve(outcome ?? { problem: failed(told, ['the process that works on it ended', reason, stderr.trim()].filter(Boolean).join('; ')) }))
      child.post(job)
    })
  }

  async function work<T extends FileJobResult[FileJob['kind']]>(job: FileJob, told: Told, onResults: (results: Result[]) => void = () => undefined): Promise<Ended<T>> {
    tell(told, 0)
    try {
      return await ended<T>(await start(), job, told, onResults)
    } catch (error) {
      return { problem: failed(told, error instanceof Error ? error.message : String(error)) }
    } finally {
      cancel = undefined
      if (job.kind === 'export') rmSync(job.temporary, { force: true })
      tell(told)
    }
  }

  /** One after the other: the page shows one, and one is cancelled. */
  function inTurn<T>(go: () => Promise<T>): Promise<T> {
    const mine = last.then(() => {
      const begun = go()
      current = begun.catch(() => undefined)
      return begun
    })
    last = mine.catch(() => undefined)
    return mine
  }

  return {
    import: (name, from) => inTurn(() => work<FileJobResult['import']>({ kind: 'import', history: historyFile, name, from }, { work: 'import', name })),
    open: (name, from) =>
      inTurn(async () => {
        const results: Result[] = []
        const { value, problem, warnings } = await work<FileJobResult['open']>({ kind: 'open', name, from }, { work: 'open', name }, (more) => results.push(...more))
        return value ? { value: { ...value, results }, ...(warnings ? { warnings } : {}) } : problem === undefined ? {} : { problem }
      }),
    export: (request) =>
      inTurn(async () => {
        const { copyOf, ...rest } = request
        const told: Told = copyOf === undefined ? { work: 'export', name: basename(request.path) } : { work: 'copy', name: copyOf }
        const ended = await work<FileJobResult['export']>({ kind: 'export', history: historyFile, temporary: temporaryFor(request.path), ...rest }, told)
        // What a finished export gives is its file alone.
        return 'value' in ended ? { value: true } : ended.problem === undefined ? {} : { problem: ended.problem }
      }),
    identify: (id, users) => inTurn(() => work<FileJobResult['identify']>({ kind: 'identify', history: historyFile, id, users }, { work: 'identify', name: '' })),
    async cancel() {
      if (!cancel) return false
      const over = current
      const stopped = cancel()
      await over
      return stopped
    },
  }
}
