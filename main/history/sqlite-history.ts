import { randomUUID } from 'node:crypto'
import type { ResultDetails } from '@core/analysis/advice'
import type { CaseHistory } from '@core/analysis/case-history'
import { caseId, type BenchmarkCase } from '@core/case'
import type { Result } from '@core/result'
import type { RowBlock } from '@core/session/rows'
import { wholeSession, SCHEMA_VERSION, type SessionStream, type Ceiling, type Environment, type NoiseFloor, type Session, type SessionFile, type SessionState, type SessionSummary } from '@core/session/types'
import type { Took } from '@core/sweep/estimate'
import { isRunning, isThisProcess, thisProcess } from '../process-owner'
import { identityOf, MisplacedError } from './database/sqlite'
import { caseHistory } from './queries/case-history'
import { Cases, Results, lastTook } from './queries/results'
import { ceilings, noiseFloors, putCeiling, putNoiseFloor } from './queries/limits'
import { Contents, isFailure, findSessions, findSuiteSessions, insertSession, loadSession, measuredOps, sessionRow, summaryOf, withCeilings, type SessionRow } from './queries/sessions'
import { query, type Database } from './database/database'
import { MaintenanceError, swapIn } from './maintenance/backup'
import { openDatabase } from './database/open'
import { parseStored } from './queries/codec'
import { InUseError, NotFoundError, type DerivedSession, type History, type ImportedSession, type NewSession } from './types'

/** Results that importInSteps writes in one transaction: some tens of milliseconds. */
const STEP = 500

/** History in one SQLite file, which other processes may use at the same time. */
export class SqliteHistory implements History {
  #cases: Cases
  #results: Results
  /** What the file was when it was opened; see #mustBeInPlace. */
  #identity: string | undefined
  /** Contents of the sessions this process writes to. */
  readonly #writing = new Map<string, { key: number; contents: Contents }>()

  constructor(
    private db: Database,
    readonly file: string,
  ) {
    this.#identity = identityOf(file)
    this.#cases = new Cases(db)
    this.#results = new Results(db, this.#cases)
  }

  replaceFile(prepared: string): string {
    if (this.#running().length > 0) throw new MaintenanceError('A run is in progress. Stop it or let it end, and try again. Nothing was changed.')
    this.db.connection.exec('pragma wal_checkpoint(truncate)')
    this.db.close()
    try {
      return swapIn(this.file, prepared)
    } finally {
      this.db = openDatabase(this.file).db
      this.#identity = identityOf(this.file)
      this.#cases = new Cases(this.db)
      this.#results = new Results(this.db, this.#cases)
      this.#writing.clear()
    }
  }

  createSession({ name, environment, settings, about, spec, cases }: NewSession): Session {
    const session: Session = { id: randomUUID(), name, createdAt: new Date().toISOString(), notes: '', tags: [], state: 'running', planned: cases.length, settings }
    if (about) session.about = about
    if (spec) session.spec = spec
    const contents = new Contents(environment)
    for (const c of cases) contents.add(c)
    this.#write(() => {
      const key = insertSession(this.db, { session, environment, ops: contents.ops, devices: contents.devices, owner: thisProcess() })
      const insert = this.db.inserter('planned', ['session', 'position', 'case_key'])
      cases.forEach((c, position) => insert([key, position, this.#cases.keyOf(c)]))
      this.#writing.set(session.id, { key, contents })
    })
    return session
  }

  addResult = (sessionId: string, result: Result): void => this.#write(() => this.#append(sessionId, [result]))

  addNewResults(sessionId: string, results: readonly Result[]): string[] {
    return this.#write(() => {
      const fresh = new Map(results.filter(({ id }) => !this.#results.has(id)).map((result) => [result.id, result]))
      this.#append(sessionId, [...fresh.values()])
      return [...fresh.keys()]
    })
  }

  /** Call inside a transaction. */
  #append(sessionId: string, results: readonly Result[]): void {
    const { key, contents } = this.#target(sessionId)
    const position = this.db.first(query.selectFrom('sessions').select('results').where('key', '=', key))?.results
    if (position === undefined) throw new NotFoundError(`There is no session “${sessionId}” in the history.`)
    results.forEach((result, i) => this.#results.insert(key, position + i, result))
    this.db.run(query.updateTable('sessions').set((eb) => ({ results: eb('results', '+', results.length), failures: eb('failures', '+', results.filter(isFailure).length) })).where('key', '=', key))
    if (results.filter(({ case: c }) => contents.add(c)).length > 0) this.db.run(query.updateTable('sessions').set({ ops: JSON.stringify(contents.ops), devices: JSON.stringify(contents.devices) }).where('key', '=', key))
  }

  setState(sessionId: string, state: SessionState): void {
    const owner = state === 'running' ? thisProcess() : null
    const { changes } = this.db.run(query.updateTable('sessions').set({ state, owner }).where('id', '=', sessionId))
    this.#mustBeInPlace()
    if (changes === 0) throw new NotFoundError(`There is no session “${sessionId}” in the history.`)
    if (state === 'running' || state === 'done') return
    // Of the operations that were planned the list shows those that were measured, however the run ended.
    const ops = measuredOps(this.db, sessionId)
    if (ops.length > 0) this.db.run(query.updateTable('sessions').set({ ops: JSON.stringify(ops) }).where('id', '=', sessionId))
    this.#writing.delete(sessionId)
  }

  setPlanned(sessionId: string, planned: number): void {
    const { changes } = this.db.run(query.updateTable('sessions').set({ planned }).where('id', '=', sessionId))
    if (changes === 0) throw new NotFoundError(`There is no session “${sessionId}” in the history.`)
  }

  listSessions(filter: { search: string; deleted: boolean }): SessionSummary[] {
    this.#settleDead()
    return findSessions(this.db, filter)
  }

  summary(id: string): SessionSummary {
    return summaryOf(sessionRow(this.db, id))
  }

  suiteSessions(): { id: string; suite: string }[] {
    return findSuiteSessions(this.db)
  }

  getSession(id: string): { session: Session; environment: Environment; results: number } {
    const row = sessionRow(this.db, id)
    return { ...withCeilings(loadSession(this.db, row), () => this.ceilings()), results: row.results }
  }

  rows(id: string, first: number, count: number): RowBlock {
    return this.#results.rows(sessionRow(this.db, id).key, first, count)
  }

  result(resultId: string): Result {
    return this.#results.one(resultId)
  }

  details(id: string): Iterable<ReadonlyMap<string, ResultDetails>> {
    return this.#results.details(sessionRow(this.db, id).key)
  }

  results(id: string): Iterable<Result> {
    return this.#results.all(sessionRow(this.db, id).key)
  }

  remaining(id: string): BenchmarkCase[] {
    const { key } = sessionRow(this.db, id)
    const measured = this.db.all(
      query.selectFrom('results').innerJoin('cases', 'cases.key', 'results.case_key').select((eb) => ['cases.identity', eb.fn.countAll<number>().as('count')]).groupBy('cases.identity').where('results.session', '=', key),
    )
    const done = new Map(measured.map((row) => [row.identity, row.count]))
    /** A case planned several times is left as often as it has no result yet. */
    const isLeft = (c: BenchmarkCase) => {
      const count = done.get(caseId(c)) ?? 0
      if (count > 0) done.set(caseId(c), count - 1)
      return count === 0
    }
    const planned = this.db.all(query.selectFrom('planned').innerJoin('cases', 'cases.key', 'planned.case_key').select('cases.json').where('planned.session', '=', key).orderBy('planned.position'))
    return planned.map((row) => parseStored<BenchmarkCase>(row.json, `A planned case of session ${id}`)).filter(isLeft)
  }

  updateSession(id: string, change: { name?: string; notes?: string; tags?: string[] }): SessionSummary {
    const { name, notes, tags } = change
    const set = { ...(name === undefined ? {} : { name }), ...(notes === undefined ? {} : { notes }), ...(tags === undefined ? {} : { tags: JSON.stringify(tags) }) }
    if (Object.keys(set).length > 0) this.db.run(query.updateTable('sessions').set(set).where('id', '=', id))
    return this.summary(id)
  }

  deleteSessions(ids: readonly string[]): number {
    return this.#write(() => {
      const asked = new Set(ids)
      for (const { id, owner } of this.#running()) {
        if (asked.has(id)) throw new InUseError(`“${this.summary(id).name}” is being measured${isThisProcess(owner) ? '. Stop the run first' : ' by another Opscope. Stop the run there first'}. Nothing was deleted.`)
      }
      return this.#mark(ids, Date.now())
    })
  }

  restoreSessions(ids: readonly string[]): number {
    return this.#write(() => this.#mark(ids, null))
  }

  /** Sets or clears the time of deletion; returns how many sessions changed. Unknown ids are none. Call inside a transaction. */
  #mark(ids: readonly string[], deletedAt: number | null): number {
    let changed = 0
    for (const id of ids) {
      changed += this.db.run(query.updateTable('sessions').set({ deleted_at: deletedAt }).where('id', '=', id).where('deleted_at', deletedAt === null ? 'is not' : 'is', null)).changes
    }
    return changed
  }

  exportSession(id: string): SessionFile {
    return wholeSession(this.streamSession(id))
  }

  streamSession(id: string): SessionStream {
    const row = sessionRow(this.db, id)
    return { schemaVersion: SCHEMA_VERSION, ...withCeilings(loadSession(this.db, row), () => this.ceilings()), results: this.#results.stream(row.key) }
  }

  importSession(file: SessionFile): ImportedSession {
    return this.#write(() => {
      const { session, contents, alreadyHere } = this.#asImported(file)
      const key = insertSession(this.db, { session, environment: file.environment, ops: contents.ops, devices: contents.devices, owner: null })
      this.#insertAll(key, 0, file.results)
      this.db.run(query.updateTable('sessions').set({ results: file.results.length, failures: file.results.filter(isFailure).length }).where('key', '=', key))
      return { ...this.summary(session.id), ...alreadyHere }
    })
  }

  /**
   * Like importSession, in many short transactions, so that other processes can write in between. The session counts as
   * deleted until restoreSessions; what nobody restores is removed with other deleted sessions.
   */
  importInSteps(file: SessionFile, onStored: (results: number) => void): ImportedSession {
    const { session, contents, alreadyHere } = this.#asImported(file)
    const key = this.#write(() => {
      const inserted = insertSession(this.db, { session, environment: file.environment, ops: contents.ops, devices: contents.devices, owner: null })
      this.db.run(query.updateTable('sessions').set({ deleted_at: Date.now() }).where('key', '=', inserted))
      return inserted
    })
    for (let first = 0; first < file.results.length; first += STEP) {
      this.#write(() => this.#insertAll(key, first, file.results.slice(first, first + STEP)))
      onStored(Math.min(first + STEP, file.results.length))
    }
    return this.#write(() => {
      this.db.run(query.updateTable('sessions').set({ results: file.results.length, failures: file.results.filter(isFailure).length }).where('key', '=', key))
      return { ...this.summary(session.id), ...alreadyHere }
    })
  }

  /** The session as it is stored: with an id that is not taken, and run by no process. */
  #asImported(file: SessionFile): { session: Session; contents: Contents; alreadyHere: { alreadyHere?: true } } {
    const contents = new Contents(file.environment)
    for (const result of file.results) contents.add(result.case)
    const known = this.db.first(query.selectFrom('sessions').select('deleted_at').where('id', '=', file.session.id))
    const session: Session = { ...file.session, id: known ? randomUUID() : file.session.id }
    if (session.state === 'running') session.state = 'stopped'
    return { session, contents, alreadyHere: known?.deleted_at === null ? { alreadyHere: true } : {} }
  }

  #insertAll(key: number, first: number, results: readonly Result[]): void {
    results.forEach((result, i) => this.#results.insert(key, first + i, this.#results.has(result.id) ? { ...result, id: randomUUID() } : result))
  }

  /** Sessions whose process is gone are not running, whoever asks first. */
  #settleDead(): void {
    if (this.db.readOnly !== undefined) return
    const alive = new Set(this.#running().map(({ id }) => id))
    const running = this.db.all(query.selectFrom('sessions').select('id').where('state', '=', 'running'))
    for (const { id } of running) if (!alive.has(id)) this.setState(id, 'interrupted')
  }

  /** Sessions that a living process, this or another, is writing to. */
  #running(): { id: string; owner: string }[] {
    const running = this.db.all(query.selectFrom('sessions').select(['id', 'owner']).where('state', '=', 'running'))
    return running.flatMap(({ id, owner }) => (owner !== null && isRunning(owner) ? [{ id, owner }] : []))
  }

  interrupted(): SessionSummary[] {
    this.#settleDead()
    const rows: SessionRow[] = this.db.all(query.selectFrom('sessions').selectAll().where('state', '=', 'interrupted').where('deleted_at', 'is', null).orderBy('created_at', 'desc').orderBy('key', 'desc'))
    return rows.map(summaryOf)
  }

  ceilings = (): Ceiling[] => ceilings(this.db)
  putCeiling = (ceiling: Ceiling): void => putCeiling(this.db, ceiling)
  noiseFloors = (): NoiseFloor[] => noiseFloors(this.db)
  putNoiseFloor = (floor: NoiseFloor): void => putNoiseFloor(this.db, floor)

  lastTook(host: string, most: number): Took[] {
    return lastTook(this.db, host, most)
  }

  caseHistory(caseId: string): CaseHistory {
    return caseHistory(this.db, caseId)
  }

  derive({ environment, from, ...fields }: DerivedSession): SessionSummary {
    return this.#write(() => {
      const session: Session = { ...fields, id: randomUUID(), createdAt: new Date().toISOString(), state: 'done', planned: 0 }
      const key = insertSession(this.db, { session, environment, ops: [], devices: [], owner: null })
      const contents = new Contents(environment)
      let results = 0
      let failures = 0
      for (const source of from) {
        for (const result of this.results(source.id)) {
          if (source.results && !source.results.has(result.id)) continue
          this.#results.insert(key, results++, { ...result, id: randomUUID(), ...(source.firstRun === undefined ? {} : { run: source.firstRun + (result.run ?? 0) }) })
          contents.add(result.case)
          if (isFailure(result)) failures++
        }
      }
      if (results === 0) throw new NotFoundError('None of these results is in that session.')
      this.db.run(query.updateTable('sessions').set({ results, failures, planned: results, ops: JSON.stringify(contents.ops), devices: JSON.stringify(contents.devices) }).where('key', '=', key))
      return this.summary(session.id)
    })
  }

  setTags(changes: readonly { id: string; tags: readonly string[] }[]): SessionSummary[] {
    return this.#write(() => changes.map(({ id, tags }) => this.updateSession(id, { tags: [...tags] })))
  }

  addedTo(id: string): SessionSummary[] {
    const rows: SessionRow[] = this.db.all(query.selectFrom('sessions').selectAll().where('adds_to', '=', id).where('deleted_at', 'is', null).orderBy('created_at').orderBy('key'))
    return rows.map(summaryOf)
  }

  close(): void {
    this.db.close()
  }

  /** A transaction that forgets what it had learnt when it fails. */
  #write<T>(work: () => T): T {
    try {
      const value = this.db.transaction(work)
      this.#mustBeInPlace()
      return value
    } catch (error) {
      this.#cases.forget()
      this.#writing.clear()
      throw error
    }
  }

  /** Throws where what was just written is in a file that has lost its name: SQLite goes on writing to it without a word, and it ends with this process. */
  #mustBeInPlace(): void {
    if (identityOf(this.file) === this.#identity) return
    throw new MisplacedError(`The history ${this.file} is gone: it, or the folder it was in, was removed or replaced while Opscope used it. Nothing can be stored before Opscope is started again.`)
  }

  #target(sessionId: string): { key: number; contents: Contents } {
    const known = this.#writing.get(sessionId)
    if (known) return known
    const row = sessionRow(this.db, sessionId)
    const { ops, devices } = summaryOf(row)
    const target = { key: row.key, contents: new Contents(loadSession(this.db, row).environment, ops, devices) }
    this.#writing.set(sessionId, target)
    return target
  }
}
