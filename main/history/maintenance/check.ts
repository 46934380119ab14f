import { z } from 'zod'
import { benchmarkCaseSchema } from '@core/case'
import { resultSchema, STATUSES } from '@core/result'
import { ROW_NUMBERS } from '@core/session/rows'
import { ceilingSchema, environmentSchema, noiseFloorSchema, sessionSchema, sessionStateSchema } from '@core/session/types'
import { openReadOnly } from '../database/sqlite'
import { Database } from '../database/database'
import { isHistory, MIGRATIONS, schemaOf } from '../database/migrate'
import type { CheckReport, FileFinding } from '@core/ipc'
import { formatInteger } from '@core/units'
import type { OnProgress } from './copy'

/** Results decoded between two reports of progress. */
const PAGE = 2000
/** Names and reasons told for one kind of trouble; the rest is counted. */
const EXAMPLES = 3

const bodySchema = resultSchema.omit({ case: true, samplesNs: true, clocksMhz: true, probesNs: true })

type Row = Record<string, unknown>
const plural = (count: number, one: string, many = `${one}s`) => `${formatInteger(count)} ${count === 1 ? one : many}`

/** The first thing that is wrong with a JSON text, in words; undefined when it is what the schema says. */
function troubleWith(json: unknown, schema: z.ZodType): string | undefined {
  if (typeof json !== 'string') return 'nothing there'
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return 'no JSON'
  }
  const issue = schema.safeParse(value).error?.issues[0]
  return issue && `${issue.path.join('.') || 'value'}: ${issue.message}`
}

/** Counts troubles of one kind and keeps the first few as examples. */
class Troubles {
  count = 0
  readonly examples: string[] = []

  add(example: string): void {
    this.count++
    if (this.examples.length < EXAMPLES) this.examples.push(example)
  }

  /** `words` says what so many of them are. */
  *finding(level: FileFinding['level'], words: (count: number) => string): Generator<FileFinding> {
    if (this.count > 0) yield { level, message: words(this.count), ...(this.examples.length > 0 ? { detail: this.examples.join('\n') + (this.count > this.examples.length ? `\nand ${this.count - this.examples.length} more` : '') } : {}) }
  }
}

/**
 * Looks through the whole file and changes nothing: pages and indexes (SQLite's own check), references between tables,
 * results without samples and samples without a result, counts, and whether every row can still be read as what it is.
 */
export function checkFile(file: string, onProgress: OnProgress = () => undefined): CheckReport {
  const from = performance.now()
  const db = new Database(openReadOnly(file))
  try {
    const all = (sql: string): Row[] => db.prepare(sql).all() as Row[]
    const count = (sql: string): number => Number(Object.values(all(sql)[0] ?? {})[0] ?? 0)
    onProgress({ step: 'Reading every page' })
    const pages = all('pragma integrity_check(20)').map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok')
    const findings: FileFinding[] = []
    if (pages.length > 0) findings.push({ level: 'error', message: 'The file itself is damaged: parts of it cannot be read as SQLite wrote them. Restore a backup, or export what can still be opened.', detail: pages.join('\n') })
    else if (!isHistory(db) || schemaOf(db) !== MIGRATIONS.length) findings.push({ level: 'error', message: `This is no history of this version: schema ${schemaOf(db)}, expected ${MIGRATIONS.length}.` })
    else {
      onProgress({ step: 'Following references' })
      findings.push(...references(all, count), ...countsOf(all), ...recordsOf(all))
      findings.push(...decodeResults(db, count('select count(*) from results'), onProgress))
    }
    const readable = pages.length === 0
    return { findings, sessions: readable ? count('select count(*) from sessions where deleted_at is null') : 0, results: readable ? count('select count(*) from results') : 0, bytes: count('pragma page_count') * count('pragma page_size'), ms: performance.now() - from }
  } finally {
    db.close()
  }
}

function* references(all: (sql: string) => Row[], count: (sql: string) => number): Generator<FileFinding> {
  const broken = new Map<string, number>()
  for (const row of all('pragma foreign_key_check')) {
    const what = `${String(row['table'])} without ${String(row['parent'])}`
    broken.set(what, (broken.get(what) ?? 0) + 1)
  }
  for (const [what, rows] of broken) yield { level: 'error', message: `${plural(rows, 'row')} of ${what}: what they belong to is gone.` }
  const bodiless = count('select count(*) from results where body not in (select key from bodies)')
  if (bodiless > 0) yield { level: 'error', message: `${plural(bodiless, 'result')} without samples and details: the table of their session shows them, opening one fails.` }
  const orphaned = count('select count(*) from bodies where key not in (select body from results)')
  if (orphaned > 0) yield { level: 'note', message: `Samples of ${plural(orphaned, 'result')} that no session has any more: they only take room.` }
  const headless = all('select name from sessions where key not in (select session from session_details)')
  if (headless.length > 0) yield { level: 'error', message: `${plural(headless.length, 'session')} without environment and settings: opening fails.`, detail: headless.slice(0, EXAMPLES).map((row) => String(row['name'])).join('\n') }
}

/** What the list says of each session against what there is. */
function* countsOf(all: (sql: string) => Row[]): Generator<FileFinding> {
  const wrong = new Troubles()
  const rows = all(`select s.name, s.results as told, count(r.id) as there from sessions s left join results r on r.session = s.key group by s.key having told <> there`)
  for (const row of rows) wrong.add(`${String(row['name'])}: ${String(row['told'])} in the list, ${String(row['there'])} there`)
  yield* wrong.finding('error', (n) => `The list shows another number of results than there are for ${plural(n, 'session')}.`)
}

function* recordsOf(all: (sql: string) => Row[]): Generator<FileFinding> {
  const kinds: readonly [sql: string, schema: z.ZodType, words: (n: number) => string][] = [
    ['select json, identity as name from cases', benchmarkCaseSchema, (n) => `${plural(n, 'case')} cannot be read.`],
    ['select environment as json, sessions.name from session_details join sessions on sessions.key = session', environmentSchema, (n) => `The environment of ${plural(n, 'session')} cannot be read.`],
    ['select tags as json, name from sessions', sessionSchema.shape.tags, (n) => `The tags of ${plural(n, 'session')} cannot be read.`],
    ['select json_quote(cast(state as text)) as json, name from sessions', sessionStateSchema, (n) => `The state of ${plural(n, 'session')} cannot be read.`],
    ['select json_quote(cast(created_at as text)) as json, name from sessions', z.string().refine((text) => !Number.isNaN(Date.parse(text))), (n) => `The date of ${plural(n, 'session')} cannot be read.`],
    ['select ops as json, name from sessions union all select devices, name from sessions', z.array(z.string()), (n) => `The list cannot show what ${plural(n, 'session')} hold.`],
    [`select json, device_name || ' ' || kind as name from ceilings`, ceilingSchema, (n) => `${plural(n, 'ceiling')} cannot be read; measure the machine again.`],
    ['select json, device_name as name from noise_floors', noiseFloorSchema, (n) => `${plural(n, 'noise floor')} cannot be read; measure the noise floor again.`],
  ]
  for (const [sql, schema, words] of kinds) {
    const troubles = new Troubles()
    for (const row of all(sql)) {
      const trouble = troubleWith(row['json'], schema)
      if (trouble !== undefined) troubles.add(`${String(row['name'])}: ${trouble}`)
    }
    yield* troubles.finding('error', words)
  }
}

/** Reads every result as opening it would, a page at a time. */
function* decodeResults(db: Database, total: number, onProgress: OnProgress): Generator<FileFinding> {
  const troubles = new Troubles()
  const statement = db.prepare(
    `select r.session, r.position, r.id, s.name, r.status, length(r.numbers) as numbers, b.json, length(b.samples) as samples, length(b.clocks) as clocks, length(b.probes) as probes
     from results r join sessions s on s.key = r.session join bodies b on b.key = r.body
     where (r.session, r.position) > (?, ?) order by r.session, r.position limit ${PAGE}`,
  )
  let last: [number, number] = [-1, -1]
  for (let done = 0; ; done += PAGE) {
    onProgress({ step: `Reading ${plural(total, 'result')}`, share: total === 0 ? 1 : Math.min(1, done / total) })
    const page = statement.all(...last) as Row[]
    for (const row of page) {
      const bytes = [row['samples'], row['clocks'], row['probes'], row['numbers']].filter((length): length is number => typeof length === 'number')
      const trouble = bytes.some((length) => length % 8 !== 0) || Number(row['numbers']) > 8 * ROW_NUMBERS.length ? 'samples or figures are cut off' : STATUSES[Number(row['status'])] === undefined ? `status ${String(row['status'])} does not exist` : troubleWith(row['json'], bodySchema)
      if (trouble !== undefined) troubles.add(`${String(row['name'])}, ${String(row['id'])}: ${trouble}`)
    }
    const end = page.at(-1)
    if (!end || page.length < PAGE) break
    last = [Number(end['session']), Number(end['position'])]
  }
  yield* troubles.finding('error', (n) => `${plural(n, 'result')} cannot be read.`)
}
