import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BenchmarkCase } from '@core/case'
import type { RunState } from '@core/ipc'
import { endedResult } from '@core/measure/ended'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result, Status } from '@core/result'
import type { History } from '../history/types'
import type { Host, Outcome, Progress } from './host'
import { Pace, type Expected } from './pace'
import { caseWords } from './words'

/** What a job needs from the runner. */
export interface JobContext {
  history: History
  /** The host that serves this backend, or undefined. */
  hostOf(backend: string): Host | undefined
  /** Something in `view()` changed. */
  changed(): void
  /** A result was stored. */
  stored(result: Result): void
}

export interface JobSpec {
  sessionId: string
  sessionName: string
  cases: readonly BenchmarkCase[]
  settings: MeasureSettings
  /** Results the session already has, and how many of them failed. */
  before: { results: number; failures: number }
  /** Expected wall time of each case, in seconds. */
  estimates: readonly number[]
}

type Unmeasured = Exclude<Status, 'ok' | 'wrong'>

/** Whether a case was tried and gave no figure to trust. */
const isFailure = (status: Status) => status !== 'ok' && status !== 'skipped'

/** One session being measured: its cases one after the other, each stored before the next begins. */
export class Job {
  #state: 'running' | 'paused' | 'stopping' = 'running'
  #wake: (() => void) | undefined
  #current: BenchmarkCase | undefined
  #progress: Progress | undefined
  #host: Host | undefined
  #done: number
  #failures: number
  readonly #expected: readonly Expected[]
  readonly #pace: Pace
  /** Hosts given up for the rest of the run, with the reason. */
  readonly #givenUp = new Map<Host, string>()

  constructor(
    readonly spec: JobSpec,
    private readonly context: JobContext,
  ) {
    this.#done = spec.before.results
    this.#failures = spec.before.failures
    this.#expected = spec.cases.map((c, i) => ({ device: c.device, seconds: spec.estimates[i] ?? 0 }))
    this.#pace = new Pace(this.#expected)
  }

  /** Runs to the end or to `stop`. Rejects only when a result cannot be stored. */
  async run(): Promise<{ state: 'done' | 'stopped'; failures: number }> {
    // Whoever started the job learns its session before its first event.
    await nextTurn()
    for (const [i, c] of this.spec.cases.entries()) {
      if (this.#state !== 'running') await this.#untilResumed()
      if (this.#isStopping()) break
      const started = performance.now()
      const expected = this.#expected[i]!
      const result = await this.#one(c, expected.seconds)
      if (!result) break
      this.context.history.addResult(this.spec.sessionId, result)
      this.#pace.ended(expected, (performance.now() - started) / 1000)
      this.#done += 1
      if (isFailure(result.status)) this.#failures += 1
      this.context.stored(result)
    }
    this.#current = undefined
    const state = this.#done < this.spec.before.results + this.spec.cases.length ? 'stopped' : 'done'
    return { state, failures: this.#failures }
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
    this.context.changed()
  }

  resume(): void {
    if (this.#state === 'paused') this.#state = 'running'
    this.#wake?.()
    this.context.changed()
  }

  stop(): void {
    this.#state = 'stopping'
    this.#host?.cancel()
    this.#wake?.()
    this.context.changed()
  }

  view(): RunState {
    const state: RunState = {
      phase: this.#state,
      sessionId: this.spec.sessionId,
      sessionName: this.spec.sessionName,
      done: this.#done,
      total: this.spec.before.results + this.spec.cases.length,
      failures: this.#failures,
      secondsLeft: this.#pace.secondsLeft(),
    }
    if (this.#current) state.current = caseWords(this.#current)
    if (this.#progress) {
      state.currentPhase = this.#progress.phase
      state.samples = this.#progress.samples
    }
    return state
  }

  #isStopping = () => this.#state === 'stopping'

  async #untilResumed(): Promise<void> {
    while (this.#state === 'paused') {
      this.context.changed()
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }

  /** The case's result whatever happened to it, or undefined when the run was stopped in its midst. */
  async #one(c: BenchmarkCase, expectedSeconds: number): Promise<Result | undefined> {
    const { settings } = this.spec
    const id = randomUUID()
    const startedAt = new Date().toISOString()
    const begun = performance.now()
    const without = (status: Unmeasured, message: string, detail?: string) =>
      endedResult({ resultId: id, case: c, seed: settings.seed, status, message, ...(detail ? { detail } : {}), startedAt, wallMs: performance.now() - begun })

    const host = this.context.hostOf(c.backend)
    if (!host) return without('skipped', `nothing here serves the backend "${c.backend}"`)
    const givenUp = this.#givenUp.get(host)
    if (givenUp) {
      // Thousands of these may follow each other; a stop must still get through.
      await nextTurn()
      return without('skipped', givenUp)
    }

    this.#current = c
    this.#progress = undefined
    this.#host = host
    this.context.changed()
    const outcome = await host.measure({ case: c, settings, resultId: id, expectedSeconds }, (progress) => {
      this.#progress = progress
      this.context.changed()
    })
    this.#host = undefined
    return this.#resultOf(outcome, host, without)
  }

  #resultOf(outcome: Outcome, host: Host, without: (status: Unmeasured, message: string, detail?: string) => Result): Result | undefined {
    switch (outcome.kind) {
      case 'result':
        return outcome.result
      case 'cancelled':
        return this.#isStopping() ? undefined : without('failed', 'the measurement was cancelled')
      case 'error':
        return without('failed', outcome.message)
      case 'silent':
        return without('timeout', `nothing was heard of this case for ${outcome.seconds} s; its process was ended and replaced`)
      case 'gone':
        return this.#isStopping() ? undefined : without('crashed', `the measurement process ended: ${outcome.reason}`, outcome.detail)
      case 'absent': {
        if (this.#isStopping()) return undefined
        const reason = `not tried, because its measurement process cannot be started: ${outcome.reason}`
        this.#givenUp.set(host, reason)
        return without('skipped', reason)
      }
    }
  }
}
