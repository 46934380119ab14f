import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { importSession, MAX_CHARACTERS } from '@core/formats/registry'
import type { SessionSummary } from '@core/session/types'
import type { FileSides } from '../compare/file-sides'
import { findSession } from './find-session'
import { UsageError } from './usage-error'

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true
/** `results.json`, `./a`: what nobody calls a session, so that a missing file is told as one. */
const looksLikePath = (text: string) => /[/\\]|\.(json|csv|txt)$/i.test(text)

/**
 * Ids of what a user names: a stored session, or a file in any format that can be read, which is held in `files` and not
 * imported. A session of that very id or name goes before a file. Throws UsageError.
 */
export function findSide(wanted: string, sessions: readonly SessionSummary[], files: FileSides): string {
  const exact = sessions.some(({ id, name }) => id === wanted || name === wanted)
  if (!exact && isFile(wanted)) return files.add(...readSide(wanted)).id
  if (!exact && looksLikePath(wanted)) throw new UsageError(`there is no file "${wanted}", nor a session of that name`)
  const { id, about } = findSession(wanted, sessions)
  // What was measured by turns is part of the comparison inside the session it adds to.
  return (about?.kind === 'interleaved' ? about.session : undefined) ?? id
}

function readSide(path: string): Parameters<FileSides['add']> {
  const name = basename(path)
  try {
    // Before reading: a file of this size is refused anyway, and reading it could exhaust memory.
    const { size } = statSync(path)
    if (size > MAX_CHARACTERS) throw new Error(`${Math.ceil(size / 2 ** 20)} MiB, larger than ${MAX_CHARACTERS / 2 ** 20} MiB, the most that is read`)
    const outcome = importSession(name, readFileSync(path, 'utf8'))
    if (outcome.ok) return [name, outcome.file]
    throw new UsageError(outcome.message)
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
