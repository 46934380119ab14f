import { readRedactions, type Redaction } from '@core/formats/redact'
import { MAX_SESSION_NAME, type SessionSummary } from '@core/session/types'
import { oneLine } from '../../printable'

/** Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`; optimal string alignment distance. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1)
      row.push(best)
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/** The choice most like `word`, when one is like it: a beginning of it, or within a third of its letters. */
export function nearest(word: string, choices: readonly string[]): string | undefined {
  const lower = word.toLowerCase()
  // Every letter is one edit away from every other.
  if (lower.length < 2) return undefined
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(lower.length / 3)) + 1
  for (const choice of choices) {
    const other = choice.toLowerCase()
    const distance = other.startsWith(lower) ? 0.5 : editDistance(lower, other)
    if (distance < bestDistance) [best, bestDistance] = [choice, distance]
  }
  return best
}

/** `what` is the noun of the message, `word` what was given. Never returns. */
export function refuse(what: string, word: string, choices: readonly string[]): never {
  const like = nearest(word, choices)
  const hint = like === undefined ? '' : ` Did you mean "${like}"?`
  throw new UsageError(`unknown ${what} "${word}".${hint} Choose from: ${choices.join(', ')}.`)
}

/** The one of `choices` that `word` names. */
export function pickOne<T extends string>(what: string, word: string, choices: readonly T[]): T {
  return choices.find((choice) => choice === word) ?? refuse(what, word, choices)
}

/** `a, b,c` as words; an empty list is refused. */
export function words(what: string, text: string): string[] {
  const list = text.split(',').map((word) => word.trim()).filter((word) => word !== '')
  if (list.length === 0) throw new UsageError(`no ${what} given; expected a list such as a,b`)
  return [...new Set(list)]
}

/** The choices a comma-separated list names, each once; `all` names every one. */
export function pickList<T extends string>(what: string, text: string, choices: readonly T[]): T[] {
  const list = words(what, text)
  return list.includes('all') ? [...choices] : list.map((word) => pickOne(what, word, choices))
}

/** The name that a session is to have. */
export function readName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const name = text.trim()
  if (name === '' || name.length > MAX_SESSION_NAME) throw new UsageError(`--name expects 1 to ${MAX_SESSION_NAME} characters, received ${name.length}`)
  return name
}

/** What `--redact` leaves out: all, none, or a list of kinds. */
export function readRedact(text: string): Set<Redaction> {
  try {
    return readRedactions(text)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

/** Arguments that cannot be followed. The command line ends with status 2 and this message. */
export class UsageError extends Error {
  override name = 'UsageError'
}

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
