import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hostLabel } from '@core/fleet/collect'
import type { SessionSummary } from '@core/session/types'
import { NotFoundError, type History } from '../history/types'
import { writeFileAtomic } from '../write-file'
import { collect } from './collect'
import type { FleetLine, LineLimits } from './connect'

/**
 * Whose history results are for: a name made once and kept in the data folder. Machines are cloned with their names and
 * folders, and change their names; two histories of one name would take each other's results.
 */
export function clientOf(folder: string): string {
  const file = join(folder, 'fleet-client')
  const keptIn = () => /^[\w-]{16,64}$/.exec(existsSync(file) ? readFileSync(file, 'utf8') : '')?.[0]
  const kept = keptIn()
  if (kept !== undefined) return kept
  const made = `${hostLabel(hostname()).slice(0, 30)}-${randomUUID().replaceAll('-', '')}`
  if (existsSync(file)) writeFileAtomic(file, [made])
  else {
    // The window and a command may both be the first: the name of one of them holds, whole.
    const own = `${file}-${made}`
    writeFileAtomic(own, [made])
    try {
      linkSync(own, file)
    } catch {
      if (!existsSync(file)) writeFileAtomic(file, [made])
    }
    rmSync(own)
  }
  return keptIn() ?? made
}

/** Sessions of fleets that lack results and were not cancelled. */
export const unfinished = (history: Pick<History, 'listSessions'>): SessionSummary[] => history.listSessions({ search: '', deleted: false }).filter(({ about, state, results, planned }) => about?.kind === 'fleet' && state !== 'cancelled' && results < planned)

export interface GatherOptions {
  history: Pick<History, 'summary' | 'setState' | 'addNewResults'>
  folder: string
  line: FleetLine
  limits: LineLimits
  sessions: readonly string[]
  signal: AbortSignal
  /** After each result that is new. */
  stored?: (session: string) => void
  /** A session has all its results. */
  finished?: (session: string) => void
  /** A session was cancelled by another process: it is not waited for any longer. */
  cancelled?: (session: string) => void
  warn?: (message: string) => void
  /** Tells, once for each of its kind, of results that this version cannot read, or not all of. Default: `warn`. */
  newer?: (message: string) => void
  /** Ends when the server has no more results, too. */
  untilEmpty?: boolean
  /** How often it is looked whether another process of this data folder has stored results, in ms. */
  lookMs?: number
}

const LOOK_MS = 2000

/** Takes results until these sessions are complete or cancelled, or the signal aborts. Returns how many are still to come. */
export async function gather({ history, folder, line, limits, sessions, signal, stored, finished, cancelled, warn, newer, untilEmpty, lookMs = LOOK_MS }: GatherOptions): Promise<number> {
  const left = new Map(sessions.map((id) => [id, history.summary(id).planned - history.summary(id).results]))
  const stop = new AbortController()
  signal.addEventListener('abort', () => stop.abort(), { once: true })
  const finish = (id: string) => {
    left.delete(id)
    history.setState(id, 'done')
    finished?.(id)
    if (left.size === 0) stop.abort()
  }
  for (const [id, count] of left) if (count <= 0) finish(id)
  // The window and the command line take from one queue: what the other has stored is not to be waited for.
  const look = setInterval(() => {
    for (const id of [...left.keys()]) {
      try {
        const { planned, results, state } = history.summary(id)
        left.set(id, planned - results)
        if (results >= planned) finish(id)
        else if (state === 'cancelled' && !untilEmpty) {
          left.delete(id)
          cancelled?.(id)
          if (left.size === 0) stop.abort()
        }
      } catch (error) {
        if (!(error instanceof NotFoundError)) warn?.(`the history could not be read: ${error instanceof Error ? error.message : String(error)}`)
        else if (left.delete(id) && left.size === 0) stop.abort()
      }
    }
  }, lookMs)
  if (left.size > 0 && !signal.aborted)
    await collect({
      history, client: clientOf(folder), line, limits, signal: stop.signal, ...(warn ? { warn } : {}), ...(newer ? { newer } : {}), ...(untilEmpty ? { untilEmpty } : {}),
      stored: (id) => {
        stored?.(id)
        const rest = left.get(id)
        if (rest === undefined) return
        left.set(id, rest - 1)
        if (rest === 1) finish(id)
      },
    }).finally(() => clearInterval(look))
  clearInterval(look)
  return [...left.values()].reduce((sum, count) => sum + count, 0)
}
