import type { SessionSummary } from '@core/session/types'
import { oneLine } from '../printable'
import { nearest } from './choices'
import { UsageError } from './usage-error'

/**
 * The session a user means: `last`, an id, an exact name, or the beginning of an id that fits one session only.
 * `sessions` come newest first. Throws UsageError with what would have fitted.
 */
export function findSession(wanted: string, sessions: readonly SessionSummary[]): SessionSummary {
  if (sessions.length === 0) throw new UsageError('there is no session yet; make one with: opscope run')
  if (wanted.trim() === '') throw new UsageError('no session given; expected an id, the beginning of one, a name, or last')
  const byDate = [...sessions].sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  if (wanted === 'last') return byDate[0]!
  const exact = byDate.find((session) => session.id === wanted)
  if (exact) return exact
  const named = byDate.filter((session) => session.name === wanted)
  if (named.length === 1) return named[0]!
  const begun = byDate.filter((session) => session.id.startsWith(wanted))
  if (named.length === 0 && begun.length === 1) return begun[0]!
  const several = named.length > 1 ? named : begun
  if (several.length > 1) {
    throw new UsageError(`"${wanted}" fits ${several.length} sessions: ${several.slice(0, 8).map((s) => oneLine(`${s.id} (${s.name}, ${s.createdAt})`)).join('; ')}. Use an id.`)
  }
  const like = nearest(wanted, byDate.map((session) => session.name))
  throw new UsageError(`no session "${wanted}".${like === undefined ? '' : ` Did you mean "${oneLine(like)}"?`} List them with: opscope sessions`)
}
