import { readFile, stat } from 'node:fs/promises'
import { importSession, MAX_CHARACTERS } from '@core/formats/registry'
import type { Reply } from '@core/ipc'
import type { SessionFile, SessionSummary } from '@core/session/types'
import type { Services } from '../app/services'

/** A file to import. `read` throws with the reason when it cannot be read. */
export interface Incoming {
  name: string
  read(): Promise<string>
}

/** The text of a file the user chose. Throws when it cannot be read or is larger than is looked at. */
export async function readChosen(path: string): Promise<string> {
  const { size } = await stat(path)
  // Before reading: such a file is refused anyway, and reading it could exhaust memory.
  if (size > MAX_CHARACTERS) throw new Error(`${Math.ceil(size / 2 ** 20)} MiB, larger than ${MAX_CHARACTERS / 2 ** 20} MiB, the most that is read`)
  return readFile(path, 'utf8')
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Reads files one after the other, each whole or not at all, and gives those that are sessions to `take`; one message for each that is not. */
export async function readSessions(files: readonly Incoming[], take: (name: string, file: SessionFile) => void): Promise<string[]> {
  const problems: string[] = []
  for (const { name, read } of files) {
    let text: string
    try {
      text = await read()
    } catch (error) {
      problems.push(`${name}: could not be read (${reasonOf(error)})`)
      continue
    }
    const outcome = importSession(name, text)
    if (!outcome.ok) problems.push(outcome.message)
    else {
      try {
        take(name, outcome.file)
      } catch (error) {
        problems.push(`${name}: could not be added to the history (${reasonOf(error)})`)
      }
    }
  }
  return problems
}

/** Imports files; tells what came in and what was wrong with the others. */
export async function importAll({ history, emit }: Pick<Services, 'history' | 'emit'>, files: readonly Incoming[]): Promise<Reply<'sessions:import'>> {
  const imported: SessionSummary[] = []
  const problems = await readSessions(files, (_name, file) => imported.push(history.importSession(file)))
  if (imported.length > 0) emit('sessions:changed', { ids: imported.map(({ id }) => id) })
  return { imported, problems }
}
