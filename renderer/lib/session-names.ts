import { minuteText } from './dates'

interface Named {
  id: string
  name: string
  /** ISO 8601 */
  createdAt: string
}


/** The texts that more than one of these have. */
function repeated(texts: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(texts.filter((text) => seen.size === seen.add(text).size))
}

/**
 * When the sessions among these that share a name were made, by id, to tell them apart: to the second where the minute
 * is the same too. Sessions with a name of their own are not in it. Local time.
 */
export function tellingDates(sessions: readonly Named[]): Map<string, string> {
  const shared = repeated(sessions.map(({ name }) => name))
  const alike = sessions.filter(({ name }) => shared.has(name))
  const withMinute = (session: Named) => `${session.name} ${minuteText(session.createdAt)}`
  const sameMinute = repeated(alike.map(withMinute))
  return new Map(alike.map((session) => [session.id, minuteText(session.createdAt, sameMinute.has(withMinute(session)))]))
}
