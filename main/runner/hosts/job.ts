import { randomInt, randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BenchmarkCase } from '@core/case'
import { placeOf } from '@core/fleet/place'
import type { RunState } from '@core/ipc'
import { endedResult } from '@core/measure/result/record'
import type { Result, Status } from '@core/result'
import type { History } from '../../history/types'
import type { Host, Outcome, Progress } from './host'
import { LostDevices } from './lost-devices'
import { Pace } from '../sources/pace'
import type { CaseSource, Measured, Step, Turn } from '../sources/source'
import { caseWords, listed } from '../words'

/** What a job needs from the runner. */
export interface JobContext {
  history: Pick<History, 'addResult'>
  /** The host that measures such cases, or undefined. `track`: with a process of its own for this one of several that measure at once. */
  hostOf(c: BenchmarkCase, track?: string): Host | undefined
  /** Something in `view()` changed. */
  changed(): void
  /** Tells the user something. */
  warn(message: string): void
  /** A result was stored. */
  stored(result: Result): void
}

export interface JobSpec {
  sessionId: string
  sessionName: string
  source: CaseSource
  /** Results the session already has, and how many of them failed. */
  before: { results: number; failures: number }
}

type Unmeasured = Exclude<Status, 'ok' | 'wrong' | 'inaccurate'>
type Without = (status: Unmeasured, message: string, detail?: string) => Result

/** Whether a case was tried and gave no figure to trust. */
const isFailure = (status: Status) => status !== 'ok' && status !== 'skipped'

/** Cases that are measured one after the other, and the one that is being measured. */
interface Track {
  turns: CaseSource['turns']
  /** Absent: the one that measures alone. */
  key?: string
  current?: BenchmarkCase | undefined
  progress?: Progress | undefined
  host?: Host | undefined
}

/** Cases of this many tracks are named while they are measured. */
const MAX_NAMED = 2

/**
 * One session being measured. The cases of a track come one after the other, each stored before the next begins; tracks
 * of several GPUs measure at once where the source has such, and what is left after them alone.
 */
export class Job {
  #state: 'running' | 'paused' | 'stopping' = 'running'
  readonly #wakes = new Set<() => void>()
  readonly #tracks = new Set<Track>()
  #done: number
  #failures: number
  #outOfMemory = 0
  #unstored: Result | undefined
  /** Whether a case of this run was tried rather than skipped. */
  #tried = false
  readonly #pace = new Pace()
  /** Each session verifies other samples of large outputs. */
  readonly #sampleSeed = randomInt(2 ** 32)
  readonly #lost = new LostDevices()
  /** Hosts that were asked to leave cases open. */
  readonly #keeping = new Set<Host>()
  /** Generation of turns that the process of a host was started for. */
  readonly #generations = new Map<Host, number>()
  /** Hosts given up for the rest of the run, with the reason. */
  readonly #givenUp = new Map<Host, string>()

  constructor(
    readonly spec: JobSpec,
    private readonly context: JobContext,
  ) {
    this.#done = spec.before.results
    this.#failures = spec.before.failures
  }

  /** Runs to the end or to `stop`. Rejects only when a result cannot be stored. */
  async run(): Promise<{ state: 'done' | 'stopped'; failures: number; outOfMemory?: number }> {
    // Whoever started the job learns its session before its first event.
    await nextTurn()
    try {
      const { turns, sideBySide = [], unfinished } = this.spec.source
      const whole = (await this.#together(sideBySide)) && (await this.#takeTurns({ turns }))
      if (!whole) for (const result of unfinished?.() ?? []) this.#keep(result)
      // Where nothing could be tried, what was planned is still to be done.
      const nothingDone = !this.#tried && this.#done > this.spec.before.results
      return { state: whole && !nothingDone ? 'done' : 'stopped', failures: this.#failures, ...(this.#outOfMemory > 0 ? { outOfMemory: this.#outOfMemory } : {}) }
    } finally {
      this.#tracks.clear()
      // Cases left open hold memory of the device, which others may need now.
      await Promise.all([...this.#keeping].map((host) => host.recycle()))
    }
  }

  /** Takes the turns of all these tracks at once. What cannot be stored ends all of them. */
  async #together(tracks: readonly Track[]): Promise<boolean> {
    const ends = await Promise.allSettled(
      tracks.map(async (track) => {
        try {
          return await this.#takeTurns({ ...track })
        } catch (error) {
          this.stop()
          throw error
        }
      }),
    )
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) throw failed.reason
    return ends.every((end) => end.status === 'fulfilled' && end.value)
  }

  /** Whether all turns were taken, rather than the run stopped. */
  async #takeTurns(track: Track): Promise<boolean> {
    this.#tracks.add(track)
    let step = track.turns.next()
    while (!step.done) {
      if (this.#state !== 'running') await this.#untilResumed()
      if (this.#isStopping()) return false
      const turn = step.value
      if ('result' in turn) {
        if (turn.seconds !== undefined) this.#pace.ended({ device: turn.result.case.device, seconds: turn.seconds }, turn.result.wallMs / 1000)
        step = this.#keep(turn.result, track)
        continue
      }
      const started = performance.now()
      const { case: c, seconds } = turn
      const measured = await this.#one(turn, track)
      if (!measured) return false
      const [result] = measured
      if (result.status !== 'skipped') this.#tried = true
      if (turn.round || turn.rounds) {
        step = track.turns.next(measured)
        continue
      }
      this.#pace.ended({ device: c.device, seconds }, (performance.now() - started) / 1000)
      step = this.#keep(result, track)
    }
    this.#tracks.delete(track)
    return true
  }

  /** Stores a result; gives what the track has next. */
  #keep(result: Result, track?: Track): IteratorResult<Step, void> {
    this.#store(result)
    this.#done += 1
    if (isFailure(result.status)) this.#failures += 1
    if (result.errorCode === 'out-of-memory') this.#outOfMemory += 1
    // First what is left, then the events that tell of it.
    const next = track?.turns.next([result]) ?? { done: true, value: undefined }
    this.context.stored(result)
    return next
  }

  #store(result: Result): void {
    try {
      this.context.history.addResult(this.spec.sessionId, result)
    } catch (error) {
      this.#unstored ??= result
      throw error
    }
  }

  /** The result that could not be stored, after `run` rejected. */
  get unstored(): Result | undefined {
    return this.#unstored
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
    this.context.changed()
  }

  resume(): void {
    if (this.#state === 'paused') this.#state = 'running'
    this.#wake()
    this.context.changed()
  }

  stop(): void {
    this.#state = 'stopping'
    for (const { host } of this.#tracks) host?.cancel()
    this.#wake()
    this.context.changed()
  }

  view(): RunState & { total: number } {
    const { sessionId, sessionName, source, before } = this.spec
    const state = {
      phase: this.#state,
      sessionId,
      sessionName,
      done: this.#done,
      total: before.results + source.total(),
      failures: this.#failures,
      secondsLeft: this.#pace.secondsLeft(source.left()),
    }
    const measuring = [...this.#tracks].filter(({ current }) => current !== undefined)
    const progress = measuring.length === 1 ? measuring[0]!.progress : undefined
    return {
      ...state,
      ...(measuring.length > 0 ? { current: listed(measuring.map(({ current }) => caseWords(current!)), MAX_NAMED, ' · ') } : {}),
      ...(progress ? { currentPhase: progress.phase, samples: progress.samples } : {}),
    }
  }

  #isStopping = () => this.#state === 'stopping'

  async #untilResumed(): Promise<void> {
    while (this.#state === 'paused') {
      this.context.changed()
      await new Promise<void>((resolve) => this.#wakes.add(resolve))
    }
  }

  #wake(): void {
    for (const wake of this.#wakes) wake()
    this.#wakes.clear()
  }

  /** The turn's results whatever happened to its case, or undefined when the run was stopped in its midst. Of a pass that gave none, the one of its first case. */
  async #one(turn: Turn, track: Track): Promise<Measured | undefined> {
    const { case: c, settings, seconds, keep = false, round, rounds, mark } = turn
    const id = randomUUID()
    const startedAt = new Date().toISOString()
    const begun = performance.now()
    const without: Without = (status, message, detail) =>
      endedResult({ resultId: id, case: c, seed: settings.seed, status, message, ...(detail ? { detail } : {}), startedAt, wallMs: performance.now() - begun })

    const host = this.context.hostOf(c, track.key)
    const untried = this.#untried(c, host, without)
    if (!host || untried) {
      // Thousands of these may follow each other; a stop must still get through.
      await nextTurn()
      return untried && [{ ...untried, ...mark }]
    }
    Object.assign(track, { current: c, progress: undefined, host })
    if (keep || round || rounds) this.#keeping.add(host)
    this.context.changed()
    await this.#renew(host, turn.generation)
    const outcome = await host.measure({ case: c, settings, resultId: id, expectedSeconds: seconds, keep, ...(round ? { round } : {}), ...(rounds ? { rounds } : {}), sampleSeed: this.#sampleSeed }, (progress) => {
      track.progress = progress
      this.context.changed()
    })
    const result = this.#resultOf(outcome, host, without)
    if (result) await this.#lost.after(result, host)
    track.host = undefined
    return result && [{ ...result, ...mark }, ...(outcome.kind === 'result' ? (outcome.others ?? []) : [])]
  }

  async #renew(host: Host, generation: number | undefined): Promise<void> {
    if (generation === undefined || this.#generations.get(host) === generation) return
    this.#generations.set(host, generation)
    await host.recycle()
  }

  /** The result of a case that there is no sense in trying; undefined when it is to be tried. */
  #untried(c: BenchmarkCase, host: Host | undefined, without: Without): Result | undefined {
    if (!host) return without('skipped', nobodyServes(c))
    const givenUp = this.#givenUp.get(host)
    if (givenUp) return without('skipped', givenUp)
    const loss = this.#lost.lossOf(c)
    return loss && without('failed', `not tried, because its device is gone: ${loss.message}`, loss.detail)
  }

  #resultOf(outcome: Outcome, host: Host, without: Without): Result | undefined {
    switch (outcome.kind) {
      case 'result':
        return outcome.result
      case 'cancelled':
        return this.#isStopping() ? undefined : without('failed', 'the measurement was cancelled')
      case 'error':
        return without('failed', outcome.message)
      case 'silent':
        return without('timeout', `no progress for ${outcome.seconds} s; worker restarted`)
      case 'gone':
        return this.#isStopping() ? undefined : without('crashed', `the measurement process ended: ${outcome.reason}`, outcome.detail)
      case 'absent': {
        if (this.#isStopping()) return undefined
        const { machine } = host.kind
        if (machine !== undefined) {
          // Its cases stay unmeasured, to be resumed once the machine is back.
          this.context.warn(`The run stopped, because ${machine} cannot be used: ${outcome.reason.replace(/\.$/, '')}. What was measured is kept; resume the session to measure the rest.`)
          this.#state = 'stopping'
          return undefined
        }
        const reason = `not tried, because its measurement process cannot be started: ${outcome.reason}`
        this.#givenUp.set(host, reason)
        return without('skipped', reason)
      }
    }
  }
}

function nobodyServes({ backend, device }: BenchmarkCase): string {
  const { host } = placeOf(device)
  return host === undefined ? `nothing here serves the backend "${backend}"` : `there is no remote machine "${host}" any more`
}
