import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { hostLabel } from '@core/fleet/collect'
import type { SessionSummary } from '@core/session/types'
import type { History } from '../history/types'
import { collect } from './collect'
import type { FleetLine, LineLimits } from './connect'

/** Whose history results are for: one name for each data folder of each machine. */
export const clientOf = (folder: string): string => `${hostLabel(hostname())}-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`

/** Sessions of fleets that lack results. */
export const unfinished = (history: Pick<History, 'listSessions'>): SessionSummary[] => history.listSessions({ search: '', deleted: false }).filter(({ about, results, planned }) => about?.kind === 'fleet' && results < planned)

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
  warn?: (message: string) => void
}

/** Takes results until these sessions are complete, or the signal aborts. Returns how many are still to come. */
export async function gather({ history, folder, line, limits, sessions, signal, stored, finished, warn }: GatherOptions): Promise<number> {
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
  if (left.size > 0 && !signal.aborted)
    await collect({
      history, client: clientOf(folder), line, limits, signal: stop.signal, ...(warn ? { warn } : {}),
      stored: (id) => {
        stored?.(id)
        const rest = left.get(id)
        if (rest === undefined) return
        left.set(id, rest - 1)
        if (rest === 1) finish(id)
      },
    })
  return [...left.values()].reduce((sum, count) => sum + count, 0)
}
