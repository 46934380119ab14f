import type { RunState } from '@core/ipc'
import type { Result } from '@core/result'
import { blockOf } from '@core/session/rows'
import { isResumable, type SessionFile } from '@core/session/types'
import { MisplacedError } from '../history/database/sqlite'
import type { History } from '../history/types'
import { Coalescer, type Emitter } from './events'
import type { Fleet } from './hosts/fleet'
import { Job, type JobSpec } from './hosts/job'
import { BusyError, type Limits, type RunnerEvents } from './types'

/** What else is done with the results of a run. Writes to the history may throw. */
export interface RunHooks {
  /** After each result was stored. */
  stored?(result: Result): void
  /** After the last one; `total` is how many the session has or was to have. */
  ended?(state: 'done' | 'stopped', total: number): void
}

const IDLE: RunState = { phase: 'idle', done: 0, total: 0, failures: 0 }

/** Conducts one run at a time and tells the listeners of it. */
export class Scheduler {
  #starting = false
  #job: Job | undefined
  #running: Promise<void> | undefined
  #unsaved: SessionFile | undefined
  /** This process is about to end. */
  #leaving = false
  readonly #fresh: Result[] = []
  #firstFresh = 0
  readonly #states: Coalescer
  readonly #results: Coalescer

  constructor(
    private readonly history: History,
    private readonly fleet: Fleet,
    private readonly emitter: Emitter<RunnerEvents>,
    limits: Limits,
  ) {
    this.#states = new Coalescer(limits.eventMs, () => emitter.emit('state', this.state()))
    this.#results = new Coalescer(limits.eventMs, () => this.#tellResults())
  }

  /** The job in progress. */
  get job(): Job | undefined {
    return this.#job
  }

  /** See Runner.unsaved. */
  get unsaved(): SessionFile | undefined {
    return this.#unsaved
  }

  state(): RunState {
    return this.#job?.view() ?? (this.#starting ? { ...IDLE, phase: 'starting' } : IDLE)
  }

  /** Runs `prepare` as the one run being started. Throws BusyError while there is another. */
  async begin<T>(prepare: () => Promise<T>): Promise<T> {
    if (this.#starting || this.#job) throw new BusyError('A run is in progress; stop it first.')
    this.#starting = true
    this.#states.request()
    try {
      return await prepare()
    } finally {
      this.#starting = false
      this.#states.request()
    }
  }

  /** Starts a job; call within `begin`. */
  launch(spec: JobSpec, hooks: RunHooks = {}): { sessionId: string } {
    this.#unsaved = undefined
    this.#firstFresh = spec.before.results
    this.#job = new Job(spec, {
      history: this.history,
      hostOf: this.fleet.hostOf,
      changed: () => this.#states.request(),
      warn: (message) => this.emitter.emit('notice', { level: 'warning', message }),
      stored: (result) => {
        this.#fresh.push(result)
        hooks.stored?.(result)
        this.#results.request()
      },
    })
    this.#running = this.#conduct(this.#job, hooks)
    return { sessionId: spec.sessionId }
  }

  /** Stops the run in progress, as one to be resumed later, and waits for its end. */
  async finish(): Promise<void> {
    this.#leaving = true
    this.#job?.stop()
    await this.#running
  }

  async #conduct(job: Job, hooks: RunHooks): Promise<void> {
    const { sessionId } = job.spec
    let end: RunnerEvents['ended'] = { sessionId, state: 'stopped', failures: job.view().failures }
    try {
      end = { sessionId, ...(await job.run().finally(() => this.fleet.closeTracks())) }
      hooks.ended?.(end.state, job.view().total)
      // Nobody has stopped it for good: the next start offers to resume it.
      const resumable = this.#leaving && end.state === 'stopped' && isResumable(this.history.summary(sessionId))
      this.history.setState(sessionId, resumable ? 'interrupted' : end.state)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      let inPlace = true
      try {
        this.history.setState(sessionId, 'stopped')
      } catch (again) {
        // The same trouble again; the next start finds the session interrupted.
        inPlace = !(again instanceof MisplacedError)
      }
      this.#unsaved = this.#rescue(sessionId, job.unstored)
      const unsaved = inPlace ? (job.unstored ? 1 : 0) : (this.#unsaved?.results.length ?? 0)
      end = { ...end, state: 'stopped', failures: job.view().failures, problem: detail, ...(unsaved > 0 ? { unsaved } : {}) }
      this.emitter.emit('notice', { level: 'error', message: `The run ended because its results could not be stored. ${inPlace ? 'What was stored before is kept.' : 'None of its results is in the history; they are kept in memory.'}`, detail })
    }
    this.#results.flush()
    this.#job = undefined
    this.#states.flush()
    this.emitter.emit('ended', end)
  }

  /** The session with every result, the one that was not stored too: a file that is full or has lost its name can still be read. */
  #rescue(sessionId: string, unstored: Result | undefined): SessionFile | undefined {
    try {
      const file = this.history.exportSession(sessionId)
      const whole = unstored && !file.results.some(({ id }) => id === unstored.id) ? { ...file, results: [...file.results, unstored] } : file
      return { ...whole, session: { ...whole.session, state: 'stopped' } }
    } catch {
      // The disk itself is gone.
      return undefined
    }
  }

  #tellResults(): void {
    if (!this.#job || this.#fresh.length === 0) return
    const block = blockOf(this.#fresh, this.#firstFresh)
    this.#firstFresh += this.#fresh.length
    this.#fresh.length = 0
    this.emitter.emit('results', { sessionId: this.#job.spec.sessionId, block })
  }
}
