import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Reply } from '@core/ipc'
import type { Services } from '../app/services'
import { importAll } from './import-files'

/** Names that the system hands to this app, or that a user gives it on the command line. */
const OPENABLE = /\.(?:json|jsonl|csv)$/i

/** Files among a command line's arguments: what is there, looks like a session, and is no switch. */
export const filesIn = (argv: readonly string[], folder = process.cwd()): string[] =>
  argv.slice(1).filter((arg) => !arg.startsWith('-') && OPENABLE.test(arg)).map((arg) => resolve(folder, arg)).filter((path) => existsSync(path))

/** Files the system had the app open, imported at once and told to the page when it asks. */
export interface OpenedFiles {
  add(paths: readonly string[]): Promise<void>
  /** What became of them since this was asked last. */
  take(): Promise<Reply<'sessions:import'>>
}

export function createOpenedFiles(services: Pick<Services, 'history' | 'runner' | 'emit' | 'files'>): OpenedFiles {
  let done: Reply<'sessions:import'> = { imported: [], problems: [], warnings: [] }
  let work: Promise<void> = Promise.resolve()
  return {
    add(paths) {
      work = work.then(async () => {
        const { imported, problems, warnings } = await importAll(services, paths.map((path) => ({ name: basename(path), from: path })))
        done = { imported: [...done.imported, ...imported], problems: [...done.problems, ...problems], warnings: [...done.warnings, ...warnings] }
        services.emit('sessions:opened', {})
      })
      return work
    },
    async take() {
      await work
      const taken = done
      done = { imported: [], problems: [], warnings: [] }
      return taken
    },
  }
}
