import { caseId } from '@core/case'
import { rowAt, type Row } from '@core/session/rows'
import { mergeEnvironments, partOf, type Split } from '@core/session/derive'
import type { SessionSummary } from '@core/session/types'
import type { History } from './types'

/** Why sessions cannot be merged or split, in words. Nothing was changed. */
export class DeriveError extends Error {
  override name = 'DeriveError'
}

/** Rows read at a time. */
const PAGE = 10_000

function* rowsOf(history: History, id: string): Generator<Row> {
  for (let first = 0; ; first += PAGE) {
    const block = history.rows(id, first, PAGE)
    for (let i = 0; i < block.ids.length; i++) yield rowAt(block, i)
    if (block.ids.length < PAGE) return
  }
}

const day = (iso: string) => iso.slice(0, 16).replace('T', ' ')
const origin = ({ name, id, createdAt }: SessionSummary) => `“${name}” of ${day(createdAt)} (${id})`
const tagsOf = (sessions: readonly SessionSummary[]) => [...new Set(sessions.flatMap(({ tags }) => tags))].slice(0, 50)

function check(session: SessionSummary): SessionSummary {
  if (session.state === 'running') throw new DeriveError(`“${session.name}” is still being measured. Stop it or let it end first.`)
  if (session.about?.kind === 'interleaved' || session.about?.kind === 'self-check') throw new DeriveError(`“${session.name}” is an interleaved measurement: its blocks are only meaningful together.`)
  if (session.results === 0) throw new DeriveError(`“${session.name}” has no results.`)
  return session
}

/**
 * A new session with the results of all; they stay as they are. Where sessions measured the same case, their results
 * become repeats of it, as those of fresh processes are. Throws DeriveError where their environments cannot be one.
 */
export function mergeSessions(history: History, ids: readonly string[], name?: string): { session: SessionSummary; differences: string[] } {
  const sessions = [...new Set(ids)].map((id) => check(history.summary(id))).sort((a, b) => a.createdAt.localeCompare(b.createdAt))
  const seen = new Map<string, number>()
  /** How many repeats of the same cases came before each session. */
  const runs: number[] = []
  const parts = sessions.map((session) => {
    const used = new Set<string>()
    const own = new Set<string>()
    for (const { case: c } of rowsOf(history, session.id)) {
      used.add(`${c.backend}/${c.device}`)
      own.add(caseId(c))
    }
    const before = Math.max(0, ...[...own].map((identity) => seen.get(identity) ?? 0))
    runs.push(before)
    for (const identity of own) seen.set(identity, before + 1)
    return { name: session.name, environment: history.getSession(session.id).environment, used }
  })
  const merged = mergeEnvironments(parts)
  if (!merged.ok) throw new DeriveError(merged.reason)
  const repeats = runs.some((before) => before > 0)
  const { settings } = history.getSession(sessions[0]!.id).session
  const session = history.derive({
    name: (name ?? sessions.map((each) => each.name).join(' + ')).slice(0, 200),
    notes: [`Merged from ${sessions.map(origin).join(', ')}.`, ...(merged.differences.length > 0 ? ['The places differ:', ...merged.differences] : [])].join('\n'),
    tags: tagsOf(sessions), about: { kind: 'merged' }, environment: merged.environment, ...(settings ? { settings } : {}),
    from: sessions.map(({ id }, i) => ({ id, ...(repeats ? { firstRun: runs[i]! } : {}) })),
  })
  return { session, differences: merged.differences }
}

/** New sessions with parts of one, which stays as it is. Throws DeriveError where there would be one part only. */
export function splitSession(history: History, id: string, how: Split): SessionSummary[] {
  const source = check(history.summary(id))
  const parts = new Map<string, Set<string>>()
  if ('results' in how) parts.set('selection', new Set(how.results))
  else {
    for (const { id: resultId, case: c } of rowsOf(history, id)) {
      const part = partOf(c, how.by)
      parts.set(part, (parts.get(part) ?? new Set()).add(resultId))
    }
    if (parts.size < 2) throw new DeriveError(`All results of “${source.name}” have the same ${how.by}: ${[...parts.keys()][0] ?? ''}.`)
    if (parts.size > 200) throw new DeriveError(`“${source.name}” would become ${parts.size} sessions; 200 are the most.`)
  }
  const { environment, session } = history.getSession(id)
  return [...parts].map(([part, results]) =>
    history.derive({
      name: `${source.name}: ${part}`.slice(0, 200), notes: `Part of ${origin(source)}.`, tags: source.tags, about: { kind: 'part' }, environment, ...(session.settings ? { settings: session.settings } : {}),
      from: [{ id, results }],
    }),
  )
}
