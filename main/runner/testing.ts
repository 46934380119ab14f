import { onTestFinished } from 'vitest'
import type { Device } from '@core/backend'
import { type BenchmarkCase, caseId } from '@core/case'
import { endedResult } from '@core/measure/result/record'
import type { HostLink, ToHost } from '@core/measure/protocol'
import type { Result } from '@core/result'
import type { Ceiling, Environment, NoiseFloor, Session, SessionSummary } from '@core/session/types'
import type { Took } from '@core/sweep/estimate'
import type { SweepSpec } from '@core/session/sweep-spec'
import { type History, type NewSession, NotFoundError } from '../history/types'
import type { HostKind, Limits, RunnerEvents } from './types'
import type { Planner, RunnerDeps } from './run-setup'
import { createRunnerWith } from '.'

/** In-memory stand-ins for the runner's neighbours. For tests only. */

const QUICK_LIMITS: Partial<Limits> = { silenceMs: 80, cancelMs: 40, eventMs: 5, retryMs: 1 }

export const aCase = (n: number, backend = 'cpu'): BenchmarkCase => ({ op: 'add', params: { n }, dtype: 'f32', backend, impl: 'x', device: backend, mode: 'hot' })

export const aDevice = (backend: string): Device => ({
  backend, id: backend, name: `Test ${backend}`, available: { ok: true }, impls: [], modes: ['hot'], threads: [], memoryBytes: 1e9, software: false, facts: [], warnings: [],
})

export const aResult = (id: string, c: BenchmarkCase): Result => ({
  id, case: c, status: 'ok', startedAt: '2026-01-01T00:00:00.000Z', wallMs: 1, measuredMs: 1, bytes: 12, flops: 1, samplesNs: [1, 2, 3], seed: 1,
})

export const aSpec = (backends: readonly string[]): SweepSpec => ({
  ops: [{ op: 'add' }], sizes: { vector: '8', matrix: '', gemm: '' }, dtypes: ['f32'], modes: ['hot'], preset: 'quick',
  targets: backends.map((backend) => ({ backend, device: backend, impls: ['x'] })),
})

/** Plans exactly these cases, and one copy ceiling per device. */
export const planOf = (cases: readonly BenchmarkCase[]): Planner => ({
  plan: () => ({ cases, problems: cases.length > 0 ? [] : ['webgpu: no adapter'], skipped: [] }),
  seconds: () => 0.001,
  paced: (devices) => [...devices],
  ceilingCases: (device) => [aCase(1024, device.backend)],
  ceilingsOf: (device, result) => [
    { backend: device.backend, device: device.id, deviceName: device.name, kind: 'copy', value: 5e9, unit: 'bytes/s', measuredAt: result.startedAt, result },
  ],
  selfCheckPairs: (devices, count) => devices.flatMap(({ backend }) => Array.from({ length: count }, (_, i) => ({ id: `${backend}-${i}`, a: aCase(i + 1, backend), b: aCase(i + 1, backend) }))),
})

export const anEnvironment = (devices: readonly Device[]): Environment => ({
  appVersion: '0', host: 'h', os: 'o', kernel: 'k', cpu: 'c', logicalCpus: 1, memoryBytes: 1, node: '24', devices: [...devices],
})

/** What a scripted host does with a case. */
export type Behaviour = 'measure' | 'hang' | 'die' | 'garbage' | 'impostor' | 'refuse' | 'cancellable' | 'lose'

/** A host kind in this process; `behave` decides each case, `fail` makes the next starts reject. */
export class ScriptedKind implements HostKind {
  readonly backends: readonly string[]
  starts = 0
  kills = 0
  measured: string[] = []
  /** All measure requests, in order. */
  requests: Extract<ToHost, { type: 'measure' }>[] = []
  /** Devices it has at each question. */
  devices: () => Device[] = () => [aDevice(this.id)]
  /** Samples of a case that is measured. */
  samples: (c: BenchmarkCase) => number[] = () => [1, 2, 3]
  fail: (start: number) => string | undefined = () => undefined
  /** Called with the host's side of the link whenever a case arrives. */
  onCase: (c: BenchmarkCase) => void = () => undefined

  constructor(
    readonly id: string,
    private readonly behave: (c: BenchmarkCase) => Behaviour = () => 'measure',
  ) {
    this.backends = [id]
  }

  start(): Promise<HostLink> {
    this.starts += 1
    const reason = this.fail(this.starts)
    return reason === undefined ? Promise.resolve(this.#link()) : Promise.reject(new Error(reason))
  }

  #link(): HostLink {
    let say: (message: unknown) => void = () => undefined
    let leave: (reason: string) => void = () => undefined
    let alive = true
    const later = (act: () => void) => setImmediate(() => alive && act())
    const die = (reason: string) => {
      if (!alive) return
      alive = false
      setImmediate(() => leave(reason))
    }
    const onMeasure = (request: Extract<ToHost, { type: 'measure' }>) => {
      const { id, case: c, resultId } = request
      this.measured.push(caseId(c))
      this.requests.push(request)
      this.onCase(c)
      say({ type: 'progress', id, phase: 'sampling', samples: 3 })
      const act: Record<Behaviour, () => void> = {
        measure: () => {
          const { first, others = [] } = request.rounds ?? {}
          const [result, ...more] = [c, ...others].map((one, i): Result => ({ ...aResult(i === 0 ? resultId : `${resultId}-${i}`, one), samplesNs: this.samples(one), ...(first === undefined ? {} : { rounds: { group: 0, numbers: [first], firstSamples: [0] } }) }))
          say({ type: 'result', id, result: result!, ...(request.rounds ? { others: more } : {}) })
        },
        lose: () => say({ type: 'result', id, result: endedResult({ resultId, case: c, status: 'failed', message: 'The GPU stopped answering.', detail: 'off the bus (79)', errorCode: 'device-lost', seed: 1 }) }),
        impostor: () => say({ type: 'result', id, result: aResult(resultId, { ...c, op: 'mul' }) }),
        garbage: () => say({ type: 'result', id, result: { status: 'splendid' } }),
        refuse: () => say({ type: 'error', id, message: 'no kernel for this' }),
        die: () => die('killed by SIGSEGV\nstderr: boom'),
        hang: () => undefined,
        cancellable: () => undefined,
      }
      act[this.behave(c)]()
    }
    return {
      send: (message) =>
        later(() => {
          if (message.type === 'devices') say({ type: 'devices', id: message.id, devices: this.devices() })
          else if (message.type === 'measure') onMeasure(message)
          else if (this.behave({ ...aCase(0), backend: this.id }) === 'cancellable') say({ type: 'cancelled', id: message.id })
        }),
      onMessage: (listener) => (say = listener),
      onExit: (listener) => (leave = listener),
      kill: () => {
        this.kills += 1
        die('killed')
      },
    }
  }
}

/** History in arrays: only what the runner calls. */
export class MemoryHistory implements Pick<History, 'createSession' | 'addResult' | 'setState' | 'setPlanned' | 'summary' | 'getSession' | 'remaining' | 'interrupted' | 'lastTook' | 'ceilings' | 'putCeiling' | 'noiseFloors' | 'putNoiseFloor'> {
  readonly sessions = new Map<string, { session: Session; made: NewSession; results: Result[] }>()
  readonly kept: Ceiling[] = []
  readonly floors: NoiseFloor[] = []
  failWrites = false

  createSession(made: NewSession): Session {
    const session: Session = {
      id: `s${this.sessions.size + 1}`, name: made.name, createdAt: '2026-01-01T00:00:00.000Z', notes: '', tags: [], state: 'running',
      planned: made.cases.length, settings: made.settings, ...(made.about ? { about: made.about } : {}), ...(made.spec ? { spec: made.spec } : {}),
    }
    this.sessions.set(session.id, { session, made, results: [] })
    return session
  }

  addResult(sessionId: string, result: Result): void {
    if (this.failWrites) throw new Error('disk full')
    this.#find(sessionId).results.push(result)
  }

  setState(sessionId: string, state: Session['state']): void {
    this.#find(sessionId).session.state = state
  }

  setPlanned(sessionId: string, planned: number): void {
    this.#find(sessionId).session.planned = planned
  }

  summary(id: string): SessionSummary {
    const { session, results } = this.#find(id)
    return { ...session, results: results.length, failures: results.filter((r) => r.status !== 'ok').length, ops: [], devices: [] }
  }

  getSession(id: string) {
    const { session, made, results } = this.#find(id)
    return { session, environment: made.environment, results: results.length }
  }

  remaining(id: string): BenchmarkCase[] {
    const { made, results } = this.#find(id)
    const done = results.map((r) => caseId(r.case))
    return made.cases.filter((c) => {
      const at = done.indexOf(caseId(c))
      if (at >= 0) done.splice(at, 1)
      return at < 0
    })
  }

  interrupted(): SessionSummary[] {
    return []
  }

  lastTook(): Took[] {
    return []
  }

  ceilings(): Ceiling[] {
    return this.kept
  }

  putCeiling(ceiling: Ceiling): void {
    this.kept.push(ceiling)
  }

  noiseFloors(): NoiseFloor[] {
    return this.floors
  }

  putNoiseFloor(floor: NoiseFloor): void {
    this.floors.push(floor)
  }

  results(id: string): Result[] {
    return this.#find(id).results
  }

  #find(id: string) {
    const found = this.sessions.get(id)
    if (!found) throw new NotFoundError(`no session ${id}`)
    return found
  }
}


/** A runner over scripted hosts, disposed of when the test ends. */
export function scriptedRunner(kinds: readonly ScriptedKind[], planner: Planner, { history = new MemoryHistory(), settings = {} }: { history?: MemoryHistory; settings?: ReturnType<RunnerDeps['settings']> } = {}) {
  const runner = createRunnerWith({ history: history as unknown as History, hostKinds: kinds, planner, settings: () => settings, environment: anEnvironment, limits: QUICK_LIMITS })
  onTestFinished(() => runner.dispose())
  const notices: RunnerEvents['notice'][] = []
  runner.on('notice', (notice) => notices.push(notice))
  const ended = () => new Promise<RunnerEvents['ended']>((resolve) => runner.on('ended', resolve))
  return { runner, history, ended, notices }
}
