import { computed, ref } from 'vue'
import type { Session, SessionState, SessionSummary } from '@core/session/types'
import { formatInteger } from '@core/units'

/** States of a session as users read them. */
const STATE_WORDS: Readonly<Record<SessionState, string>> = { running: 'running', done: 'complete', stopped: 'stopped early', interrupted: 'interrupted', cancelled: 'cancelled' }

/** The state of a session in a word. One that is queued for a fleet was not stopped: its results are still to come. */
export const stateWord = ({ state, about }: Pick<Session, 'state' | 'about'>): string => (state === 'stopped' && about?.kind === 'fleet' ? 'on the fleet' : STATE_WORDS[state])

/** `complete, 8 failed`: the state of a session, and how many of its results are not valid; in full `interrupted after 12 of 30 cases`. */
export function stateText({ failures, ...session }: Pick<SessionSummary, 'state' | 'about' | 'failures' | 'results' | 'planned'>, full = false): string {
  const after = full && session.state !== 'running' && session.results < session.planned ? ` after ${formatInteger(session.results)} of ${formatInteger(session.planned)} cases` : ''
  return `${stateWord(session)}${after}${failures > 0 ? `, ${formatInteger(failures)} failed` : ''}`
}

/** `a, b, c and 4 more`. */
export function shortList(words: readonly string[], most = 3): string {
  if (words.length <= most) return words.join(', ')
  return `${words.slice(0, most).join(', ')} and ${words.length - most} more`
}

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

const DAY_MS = 86_400_000

/** Dates and times are written as this locale does; months in its language. */
const locale = ref('en-GB')

/** Formats dates for this locale (a BCP 47 tag) from now on; an unsupported tag is ignored. */
export function setDateLocale(tag: string): void {
  try {
    locale.value = Intl.DateTimeFormat.supportedLocalesOf(tag)[0] ?? locale.value
  } catch {
    // Not a tag at all.
  }
}

// Made once for a locale: making a formatter costs more than a row of a table may.
const formatter = (options: Intl.DateTimeFormatOptions) => computed(() => new Intl.DateTimeFormat(locale.value, options))
const TIME = formatter({ hour: '2-digit', minute: '2-digit' })
const DAY = formatter({ day: 'numeric', month: 'short' })

/** `Today 14:03`, `Yesterday 09:12`, `3 Mar 14:03`, `3 Mar 2025`. Local time. */
export function shortDate(iso: string, now = new Date()): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return '–'
  const time = TIME.value.format(date)
  const midnight = (d: Date) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime()
  const days = Math.round((midnight(now) - midnight(date)) / DAY_MS)
  if (days === 0) return `Today ${time}`
  if (days === 1) return `Yesterday ${time}`
  const day = DAY.value.format(date)
  return date.getFullYear() === now.getFullYear() ? `${day} ${time}` : `${day} ${date.getFullYear()}`
}

const of = (iso: string, { value: format }: { readonly value: Intl.DateTimeFormat }) => {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return '–'
  const text = format.format(date)
  return locale.value === 'en-GB' ? text.replace(',', '') : text
}
const FULL = formatter({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' })
const DATE = formatter({ day: 'numeric', month: 'short', year: 'numeric' })
const MINUTE = formatter({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const SECOND = formatter({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** `3 Mar 2025 14:03:05`: in full, for hover and details. Local time, like all of these. */
export const fullDate = (iso: string): string => of(iso, FULL)
/** `3 Mar 2025`. */
export const dayText = (iso: string): string => of(iso, DATE)
/** `3 Mar 14:03`, or with seconds. */
export const minuteText = (iso: string, seconds = false): string => of(iso, seconds ? SECOND : MINUTE)
