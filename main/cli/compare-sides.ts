import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { importSession } from '@core/formats/registry'
import type { SessionSummary } from '@core/session/types'
import { readText } from '../import/read-text'
import { oneLine } from '../printable'
import type { FileSides } from '../compare/file-sides'
import { findSession } from './find-session'
import { UsageError } from './usage-error'

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false
/** `results.json`, `./a`: what nobody calls a session, so that a missing file is told as one. */
const looksLikePath = (text: string) => /[/\\]|\.(json|csv|txt)$/i.test(text)

/**
 * Ids of what a user names: a stored session, or a file in any format that can be read, which is held in `files` and not
 * imported; `warn` gets what of it contradicted itself. A session of that very id or name goes before a file. Throws UsageError.
 */
export function findSide(wanted: string, sessions: readonly SessionSummary[], files: FileSides, warn: (text: string) => void): string {
  const exact = sessions.some(({ id, name }) => id === wanted || name === wanted)
  if (!exact && isFile(wanted)) return files.add(...readSide(wanted, warn)).id
  if (!exact && looksLikePath(wanted)) throw new UsageError(`there is no file "${wanted}", nor a session of that name`)
  const { id, about } = findSession(wanted, sessions)
  // What was measured by turns is part of the comparison inside the session it adds to.
  return (about?.kind === 'interleaved' ? about.session : undefined) ?? id
}

function readSide(path: string, warn: (text: string) => void): Parameters<FileSides['add']> {
  const name = basename(path)
  try {
    const outcome = importSession(name, readText(path))
    if (outcome.ok) {
      for (const warning of outcome.warnings ?? []) warn(oneLine(warning))
      return [name, outcome.file]
    }
    throw new UsageError(oneLine(outcome.message))
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
