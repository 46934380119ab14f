interface Named {
  id: string
  name: string
  /** ISO 8601 */
  createdAt: string
}

const when = (iso: string, second: boolean): string =>
  new Date(iso).toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', ...(second ? { second: '2-digit' } : {}) })

/** The texts that more than one of these have. */
function repeated(texts: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(texts.filter((text) => seen.size === seen.add(text).size))
}

/**
 * What to call each of these sessions where they stand together: its name; of several with one name also when it was
 * made, to the second where the minute is the same. Local time.
 */
export function distinctNames(sessions: readonly Named[]): Map<string, string> {
  const shared = repeated(sessions.map(({ name }) => name))
  const dated = (session: Named, second: boolean) => (shared.has(session.name) ? `${session.name}, ${when(session.createdAt, second)}` : session.name)
  const alike = repeated(sessions.map((session) => dated(session, false)))
  return new Map(
    sessions.map((session) => {
      const name = dated(session, false)
      return [session.id, alike.has(name) ? dated(session, true) : name]
    }),
  )
}
