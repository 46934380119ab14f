import type { ResultDetails } from '@core/analysis/advice'
import type { CaseHistory } from '@core/analysis/case-history'
import type { BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import type { Took } from '@core/sweep/estimate'
import type { RowBlock } from '@core/session/rows'
import type { SessionStream, Ceiling, Environment, NoiseFloor, Session, SessionFile, SessionState, SessionSummary } from '@core/session/types'
import type { SweepSpec } from '@core/session/sweep-spec'

export interface NewSession {
  name: string
  environment: Environment
  settings: MeasureSettings
  /** What it is where no sweep made it. */
  about?: Session['about']
  /** Absent unless a sweep made it. */
  spec?: SweepSpec
  /** Every case that will be tried, in order; kept so that an interrupted run can be taken up again. */
  cases: readonly BenchmarkCase[]
}

/** A session made of results of others. */
export interface DerivedSession extends Pick<Session, 'name' | 'notes' | 'tags' | 'settings'> {
  about: NonNullable<Session['about']>
  environment: Environment
  /** In order. `results`: only these, by id. `firstRun`: their repeats are counted from here on. */
  from: readonly { id: string; results?: ReadonlySet<string>; firstRun?: number }[]
}

/** Everything that is kept. Synchronous: each call is one short transaction in SQLite. Unknown ids throw NotFoundError. */
export interface History {
  /** The database file. */
  readonly file: string
  /**
   * Puts a database that maintenance/backup.ts prepared in the place of this one and goes on with it; returns the name
   * under which the present one stays. Throws MaintenanceError, nothing changed, while a run or another process is at it.
   */
  replaceFile(prepared: string): string
  createSession(session: NewSession): Session
  /** Durable when it returns. */
  addResult(sessionId: string, result: Result): void
  /** Adds those whose id is not in the history yet, in one transaction; returns the ids added. Durable when it returns: one write to disk for all of them. */
  addNewResults(sessionId: string, results: readonly Result[]): string[]
  setState(sessionId: string, state: SessionState): void
  /** For sessions that decide on their cases as they go: how many there are to be, or were. */
  setPlanned(sessionId: string, planned: number): void
  listSessions(filter: { search: string; deleted: boolean }): SessionSummary[]
  summary(id: string): SessionSummary
  /** The suite of each session that is of one, newest first, without deleted ones. */
  suiteSessions(): { id: string; suite: string }[]
  getSession(id: string): { session: Session; environment: Environment; results: number }
  /** Rows in the order measured, by column. */
  rows(id: string, first: number, count: number): RowBlock
  result(resultId: string): Result
  /** What findings use of valid results below grade A, by id, some at a time. */
  details(id: string): Iterable<ReadonlyMap<string, ResultDetails>>
  /** All results with their samples, one at a time. */
  results(id: string): Iterable<Result>
  /** Planned cases that have no result yet, in order; one planned several times is left as often as results are missing. */
  remaining(id: string): BenchmarkCase[]
  updateSession(id: string, change: { name?: string; notes?: string; tags?: string[] }): SessionSummary
  /** Throws InUseError, nothing deleted, where a run of this or another process writes to one of them. */
  deleteSessions(ids: readonly string[]): number
  restoreSessions(ids: readonly string[]): number
  exportSession(id: string): SessionFile
  /** The same with results read a page at a time, those that are there now; going through them throws NotFoundError should some be removed meanwhile. */
  streamSession(id: string): SessionStream
  /** All or nothing. A session whose id is already here gets a new id, and says so unless that one is deleted. */
  importSession(file: SessionFile): ImportedSession
  /** Sessions whose process died while they ran. */
  interrupted(): SessionSummary[]
  ceilings(): Ceiling[]
  /** One of each kind per device and driver; a new one replaces it. */
  putCeiling(ceiling: Ceiling): void
  /** What the last cases took on the machine of this name, newest first. */
  lastTook(host: string, most: number): Took[]
  /** The last self-check of each device and driver. */
  noiseFloors(): NoiseFloor[]
  putNoiseFloor(floor: NoiseFloor): void
  /** Sessions that add to this one (about.session), oldest first. */
  addedTo(id: string): SessionSummary[]
  /** One case, by its identity (caseId), over all sessions. */
  caseHistory(caseId: string): CaseHistory
  /** A new session with copies of results of others; all or nothing. Throws NotFoundError where no result is chosen. */
  derive(session: DerivedSession): SessionSummary
  /** Sets the tags of several sessions, all or none. */
  setTags(changes: readonly { id: string; tags: readonly string[] }[]): SessionSummary[]
  close(): void
}

/** A session that came in. `alreadyHere`: the history held it before. */
export type ImportedSession = SessionSummary & { alreadyHere?: boolean }

/** What was asked cannot be done while a run writes to the session. */
export class InUseError extends Error {
  override name = 'InUseError'
}

export class NotFoundError extends Error {
  override name = 'NotFoundError'
}
