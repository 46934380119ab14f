import { plainNames, renameMachines } from '../fleet/machines'
import { findOp } from '../ops/registry'
import type { Result } from '../result'
import { mapResults, wholeSession, type SessionStream, type Ceiling, type SessionFile } from '../session/types'

/** What a file can tell of the machine or the person behind it, and can be written without. */
export const REDACTIONS = ['host', 'user', 'paths', 'ids'] as const
export type Redaction = (typeof REDACTIONS)[number]

export const REDACTION_TITLES: Readonly<Record<Redaction, string>> = {
  host: 'Name of the computer',
  user: 'User names and e-mail addresses',
  paths: 'Paths of files and folders',
  ids: 'Serial numbers, UUIDs and hardware addresses',
}

/** Something that identifies, how often it occurs, and a few places in their words. */
export interface Identifying {
  kind: Redaction
  count: number
  examples: string[]
}

/** What the file itself does not tell: names of users of this machine. */
export interface RedactionHints {
  users?: readonly string[]
}

const EXAMPLES = 3
/** What is known of the machines behind a value beside what its texts tell by themselves. */
export interface KnownNames {
  hosts: readonly string[]
  users: readonly string[]
  serials: readonly string[]
  /** Paths of programs whose libraries computed. */
  programs?: readonly string[]
}

/** Letters shown on each side of a match. */
const AROUND = 24
/** Shorter names are words too often; the computer's own field is still cleared. */
const SHORTEST_NAME = 3
/** Accounts that everybody has. */
const COMMON_USERS = new Set(['root', 'user', 'users', 'admin', 'administrator', 'public', 'default', 'shared', 'runner', 'home'])

const HOME = /(?:\/home|\/Users|[A-Za-z]:[\\/]Users)[\\/]([^\\/\s"“”'<>|:,;]+(?: [^\\/\s"“”'<>|:,;]+){0,3}(?=[\\/])|[^\\/\s"“”'<>|:,;]+)/gi
const PATHS = [
  // Home folders, whose first part may have spaces.
  /(?<![\w.~/:])\/(?:home|Users)\/(?:[^/\s"“”'<>|:,;]+(?: [^/\s"“”'<>|:,;]+){0,3}\/)?[^\s"“”'<>|:,;)]*/g,
  // Anything absolute with a folder in it; not units (GB/s) nor the inside of addresses.
  /(?<![\w.~/:\]])\/(?:[\w.+@~-]+\/)+[\w.+@~-]*|(?<![\w.~/:])\/root\b/g,
  /(?<!\w)[A-Za-z]:[\\/](?:[^\\/"“”'<>|\n:]+[\\/])*[^\\/\s"“”'<>|,;:]+|(?<![\w\\])\\\\[\w.-]+\\[^\s"“”'<>|,;]+/g,
]
const IDS = [/\b(?:(?:GPU|MIG)-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, /(?<![0-9a-f:])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![0-9a-f:])/gi, /(?<=\bserial(?: (?:number|no\.?))?\s*[:=]?\s*)(?=[\w-]*\d)[\w-]{6,}/gi]
const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
/** Facts whose whole value is an identifier. */
const ID_FACT = /\b(serial|uuid|mac address|pci bus|bus id)\b/i

/** Fields that hold no words of anybody: identities, dates, choices of a list. */
const PLAIN_FIELDS = new Set(['id', 'resultId', 'sessionId', 'session', 'backend', 'device', 'createdAt', 'startedAt', 'measuredAt', 'state', 'status', 'grade', 'kind', 'timer', 'errorCode', 'pair', 'unit'])
/** Records and lists that hold no text of anybody either. */
const PLAIN_RECORDS = new Set(['spec', 'settings', 'samplesNs', 'clocksMhz', 'probesNs'])

/** What stands where something was left out. */
const mark = (kind: Redaction) => `[${kind === 'paths' ? 'path' : kind === 'ids' ? 'id' : kind}]`

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
/** Names of computers too short to be looked for everywhere, in the sentence that tells how machines differ. */
const machinesOf = (hosts: readonly string[]) => hosts.filter((host) => host.length > 0 && host.length < SHORTEST_NAME).map((host) => new RegExp(`(?<=^Machine: (?:.* in .*, )?)${escaped(host)}(?= in (?:“|the ))`, 'gu'))
const wordsOf = (names: readonly string[]) => names.filter((name) => name.length >= SHORTEST_NAME && !REDACTIONS.some((kind) => name === mark(kind))).map((name) => new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(name)}(?![\\p{L}\\p{N}_])`, 'giu'))

/** Calls `visit` for every text of a value that may hold words of somebody, and returns the value with what it gave back. */
function mapTexts(value: unknown, visit: (text: string) => string, key = ''): unknown {
  if (typeof value === 'string') return PLAIN_FIELDS.has(key) ? value : visit(value)
  if (typeof value !== 'object' || value === null || PLAIN_RECORDS.has(key)) return value
  // Cases of operations we know say nothing of anybody; those of other tools may be named by file.
  if (key === 'case' && findOp((value as { op?: string }).op ?? '')) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, visit, key))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, visit, name)]))
}

interface Patterns {
  kind: Redaction
  patterns: RegExp[]
}

/** Name of the computer; empty where there is none, or none any more. */
const hostOf = ({ environment: { host } }: Pick<SessionFile, 'environment'>): string => (host === mark('host') ? '' : host)

/** What machines are called where their names are left out (core/fleet/machines.ts). */
const PLAIN_HOST = /^host\d+$/

/** Names of the machine that a session or its environment tells. */
export const namesOf = ({ environment }: Pick<SessionFile, 'environment'>): Omit<KnownNames, 'users'> => ({
  hosts: [environment.host, ...(environment.machines ?? []).flatMap(({ name, facts }) => [name, facts.host]), ...environment.devices.flatMap(({ host }) => host ?? [])].filter((name, i, all) => name !== '' && name !== mark('host') && !PLAIN_HOST.test(name) && all.indexOf(name) === i),
  serials: environment.devices.flatMap(({ facts }) => facts.filter(({ name }) => ID_FACT.test(name)).map(({ value }) => value)),
  programs: [...new Set(environment.devices.flatMap(({ interpreter }) => (interpreter ? [interpreter.path] : [])))].filter((path) => path !== mark('paths')),
})

/** A session in parts: everything but the results, then each of them. */
function* partsOf({ results, ...head }: SessionStream): Generator<unknown, void> {
  yield head
  yield* results
}

const patternsOf = (session: SessionStream, { users = [] }: RedactionHints) => patternsIn(partsOf(session), { ...namesOf(session), users })

/** What is looked for in these values, in the order it is replaced: the longest things first. */
function patternsIn(values: Iterable<unknown>, { hosts, users, serials, programs = [] }: KnownNames): Patterns[] {
  const found = new Set(users)
  const look = (text: string) => {
    for (const [, name] of text.matchAll(HOME)) if (name !== undefined) found.add(name)
    return text
  }
  for (const value of values) mapTexts(value, look)
  const names = [...found].filter((name) => !COMMON_USERS.has(name.toLowerCase()))
  return [
    // A path known as one is found whole, whatever letters and spaces it has.
    { kind: 'paths', patterns: [...programs.map((path) => new RegExp(escaped(path), 'g')), ...PATHS] },
    { kind: 'ids', patterns: [...IDS, ...wordsOf([...new Set(serials)])] },
    { kind: 'user', patterns: [EMAIL, ...wordsOf(names)] },
    { kind: 'host', patterns: [...wordsOf([...new Set(hosts.flatMap((host) => [host, host.split('.')[0]!]))]), ...machinesOf(hosts)] },
  ]
}

/** What identifies the machine or the person, of each kind that occurs. Goes through the results twice. */
export function identifying(session: SessionStream, hints: RedactionHints = {}): Identifying[] {
  const found = findAll(partsOf(session), patternsOf(session, hints))
  const host = hostOf(session)
  return host === '' || found.some(({ kind }) => kind === 'host') ? found : [{ kind: 'host', count: 1, examples: [host] }, ...found]
}

/** The same of anything made from sessions, such as a comparison. */
export const identifyingIn = (value: unknown, known: KnownNames): Identifying[] => findAll([value], patternsIn([value], known))

/** In the order of REDACTIONS. */
function findAll(values: Iterable<unknown>, found: readonly Patterns[]): Identifying[] {
  const places = found.map(() => ({ count: 0, examples: new Set<string>() }))
  const look = (text: string) => {
    found.forEach(({ patterns }, i) => {
      const seen = new Set<number>()
      for (const pattern of patterns) {
        for (const match of text.matchAll(pattern)) {
          // The long and the short name of a computer begin at the same place.
          if (seen.has(match.index)) continue
          seen.add(match.index)
          places[i]!.count++
          if (places[i]!.examples.size < EXAMPLES) places[i]!.examples.add(excerpt(text, match.index, match[0].length))
        }
      }
    })
    return text
  }
  for (const value of values) mapTexts(value, look)
  return REDACTIONS.flatMap((kind) => {
    const { count, examples } = places[found.findIndex((one) => one.kind === kind)]!
    return count > 0 ? [{ kind, count, examples: [...examples] }] : []
  })
}

function excerpt(text: string, at: number, length: number): string {
  const [from, to] = [Math.max(0, at - AROUND), Math.min(text.length, at + Math.min(length, 3 * AROUND) + AROUND)]
  return `${from > 0 ? '…' : ''}${text.slice(from, to).replace(/\s+/g, ' ')}${to < text.length ? '…' : ''}`
}

/** The session and ceilings without what these kinds name; everything else, samples included, is the same. */
export function redact<C extends Ceiling>(file: SessionFile, ceilings: readonly C[], kinds: ReadonlySet<Redaction>, hints: RedactionHints = {}): { file: SessionFile; ceilings: C[] } {
  if (kinds.size === 0) return { file, ceilings: [...ceilings] }
  const { session, ceilings: shown } = redactStream(file, ceilings, kinds, hints)
  return { file: wholeSession(session), ceilings: shown }
}

/** The same of a session that memory need not hold: its results are gone through once here, and changed as they are reached. */
export function redactStream<C extends Ceiling>(session: SessionStream, ceilings: readonly C[], kinds: ReadonlySet<Redaction>, hints: RedactionHints = {}): { session: SessionStream; ceilings: C[] } {
  if (kinds.size === 0) return { session, ceilings: [...ceilings] }
  const clean = cleaner(patternsOf(session, hints), kinds)
  const { results, ...head } = session
  // First the devices' machines get other names, so that what is compared stays apart; then texts lose what names them.
  const names = kinds.has('host') ? plainNames(head.environment) : new Map<string, string>()
  const cleaned = mapTexts(renameMachines(head, names), clean) as typeof head
  if (kinds.has('host') && hostOf(session) !== '') cleaned.environment.host = mark('host')
  return {
    session: { ...cleaned, results: mapResults(results, (result) => mapTexts(renameMachines(result, names), clean) as Result) },
    // Device names are how ceilings find their device: both change alike.
    ceilings: ceilings.map((ceiling) => ({ ...renameMachines(ceiling, names), deviceName: clean(ceiling.deviceName) })),
  }
}

/** Anything made from sessions without what these kinds name; the rest is the same. */
export const redactIn = <T>(value: T, kinds: ReadonlySet<Redaction>, known: KnownNames): T => (kinds.size === 0 ? value : (mapTexts(kinds.has('host') ? renameMachines(value, new Map(known.hosts.map((host, i) => [host, `host${i + 1}`]))) : value, cleaner(patternsIn([value], known), kinds)) as T))

function cleaner(found: readonly Patterns[], kinds: ReadonlySet<Redaction>): (text: string) => string {
  const wanted = found.filter(({ kind }) => kinds.has(kind))
  return (text) => wanted.reduce((rest, { kind, patterns }) => patterns.reduce((t, pattern) => t.replace(pattern, mark(kind)), rest), text)
}

/** What is left out of a format unless somebody says otherwise: everything of what is made to be sent, nothing of the rest. */
export const usualRedactions = (format: { forSharing?: boolean }): Set<Redaction> => new Set(format.forSharing ? REDACTIONS : [])

/** Reads `all`, `none` or a list such as `host,user`. Throws RangeError with the choices. */
export function readRedactions(text: string): Set<Redaction> {
  if (text.trim() === 'all') return new Set(REDACTIONS)
  if (text.trim() === 'none') return new Set()
  return new Set(
    text.split(',').map((word) => {
      const kind = REDACTIONS.find((one) => one === word.trim())
      if (!kind) throw new RangeError(`--redact ${text} is not understood; expected all, none or a list of ${REDACTIONS.join(', ')}`)
      return kind
    }),
  )
}
