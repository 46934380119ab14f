import { NO_BASELINES, type Baselines, type Pin } from '@core/compare/pinned'
import { adviseSession } from '@core/analysis/advice'
import { packCaseHistory, type CaseHistory, type CasePoint } from '@core/analysis/case-history'
import { caseId, type BenchmarkCase } from '@core/case'
import { compareSessions, compareWithin, type ComparedSession, type CompareRequest, type Comparison, type FileSide } from '@core/compare'
import { NO_FLEET, type FleetState } from '@core/fleet/state'
import { identifying } from '@core/formats/redact'
import { FORMATS, formatInfo } from '@core/formats/registry'
import type { Channel, EventName, EventPayload, IpcReply, OpscopeApi, Reply, Request, RunState } from '@core/ipc'
import { PRESETS } from '@core/measure/settings'
import type { Result } from '@core/result'
import { blockOf, packBlock, rowAt } from '@core/session/rows'
import type { Session, SessionSummary } from '@core/session/types'
import { DEFAULT_SETTINGS, type Settings } from '@core/settings'
import { planSweep } from '@core/sweep/plan'
import type { SweepSpec } from '@core/session/sweep-spec'
import { mockCeilings, mockDevices, mockEnvironment, mockNoiseFloors } from './mock-devices'
import { mockResult } from './mock-results'

/** A data set to develop and test with. `rows`: size of one large session. */
export interface MockOptions {
  empty?: boolean
  rows?: number
  interrupted?: boolean
  /** ms between two results of a run. */
  pace?: number
}

interface Stored {
  session: Session
  results: Result[]
  deleted: boolean
}

const SPEC: SweepSpec = {
  ops: ['add', 'gelu', 'softmax', 'layer_norm', 'matmul'].map((op) => ({ op })),
  sizes: { vector: '2^16..2^26 x4', matrix: '512..4096', gemm: '256..2048' },
  dtypes: ['f32', 'bf16'],
  targets: [{ backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }, { backend: 'webgpu', device: 'webgpu:0', impls: ['wgsl'] }, { backend: 'cpu', device: 'cpu', impls: ['avx2', 'avx512'], threads: [16] }],
  modes: ['hot'],
  preset: 'standard',
}

/** An OpscopeApi over invented data, with a run that streams results. */
export class MockApi implements OpscopeApi {
  private readonly sessions = new Map<string, Stored>()
  private readonly listeners = new Map<string, Set<(payload: never) => void>>()
  private settings: Settings = { ...DEFAULT_SETTINGS }
  private baselines: Baselines = NO_BASELINES
  private state: RunState = { phase: 'idle', done: 0, total: 0, failures: 0 }
  private queue: BenchmarkCase[] = []
  private serial = 0
  /** What the fleet is said to be. */
  fleet: FleetState = NO_FLEET
  readonly calls: { channel: Channel; request: unknown }[] = []

  constructor(private readonly options: MockOptions = {}) {
    if (options.empty) return
    const cases = planSweep(SPEC, mockDevices).cases
    this.add('Driver 560, baseline', cases, 1.06, 3 * 86_400_000, 'done', ['baseline'])
    this.add('Driver 570', cases, 1, 86_400_000, 'done', ['driver', '570'], 'After the driver update')
    this.add('Softmax at odd sizes', cases.filter((c) => c.op === 'softmax'), 0.98, 5_400_000, options.interrupted ? 'interrupted' : 'stopped')
    if (options.rows) {
      const many = Array.from({ length: options.rows }, (_, i) => ({ ...cases[i % cases.length]!, params: { ...cases[i % cases.length]!.params }, threads: 1 + Math.floor(i / cases.length) }))
      this.add(`${options.rows} rows`, many, 1, 60_000, 'done')
    }
  }

  private add(name: string, cases: readonly BenchmarkCase[], speed: number, age: number, state: Session['state'], tags: string[] = [], notes = ''): Stored {
    const id = `session-${++this.serial}`
    const light = cases.length > 5000
    const results = cases.map((c, i) => mockResult(c, `${id}-${i}`, speed, light ? 8 : 64))
    const stored: Stored = { session: { id, name, createdAt: new Date(Date.now() - age).toISOString(), notes, tags, state, planned: state === 'done' ? cases.length : cases.length * 2, spec: SPEC, settings: PRESETS.standard }, results, deleted: false }
    this.sessions.set(id, stored)
    return stored
  }

  async invoke<C extends Channel>(channel: C, request: Request<C>): Promise<IpcReply<C>> {
    this.calls.push({ channel, request })
    await Promise.resolve()
    try {
      return { ok: true, value: this.answer(channel, request) as Reply<C> }
    } catch (error) {
      return { ok: false, error: { code: 'failed', message: error instanceof Error ? error.message : String(error), detail: 'mock' } }
    }
  }

  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void {
    const set = this.listeners.get(event) ?? new Set()
    this.listeners.set(event, set)
    set.add(listener)
    return () => set.delete(listener)
  }

  emit<E extends EventName>(event: E, payload: EventPayload<E>): void {
    for (const listener of this.listeners.get(event) ?? []) (listener as (value: EventPayload<E>) => void)(payload)
  }

  private stored(id: string): Stored {
    const stored = this.sessions.get(id)
    if (!stored) throw new Error(`There is no session ${id}.`)
    return stored
  }

  private summary({ session, results }: Stored): SessionSummary {
    const { spec: _spec, settings: _settings, ...rest } = session
    return { ...rest, results: results.length, failures: results.filter((r) => r.status !== 'ok').length, ops: [...new Set(results.map((r) => r.case.op))], devices: [...new Set(results.map((r) => r.case.device))] }
  }

  private answer(channel: Channel, request: unknown): unknown {
    const r = (request ?? {}) as { id: string; ids: string[]; first: number; count: number; resultId: string; sessionIds: string[]; spec: SweepSpec; name: string; sessionId: string; search: string }
    switch (channel) {
      case 'app:info': {
        const { devices: _devices, ...environment } = mockEnvironment
        return { environment, firstStart: this.options.empty === true, platform: 'linux', locale: 'en-GB', interrupted: [...this.sessions.values()].filter((s) => s.session.state === 'interrupted').map((s) => this.summary(s)) }
      }
      case 'settings:get': return this.settings
      case 'settings:set': return (this.settings = { ...this.settings, ...(request as Partial<Settings>) })
      case 'python:add': {
        const { typed = '/opt/chosen/bin/python' } = request as { typed?: string }
        if (!typed.startsWith('/')) throw new Error(`"${typed}" is not a whole path.`)
        const python = { ...this.settings.python, extra: [...(this.settings.python?.extra ?? []), typed] }
        this.settings = { ...this.settings, python }
        return { done: true, python, version: '3.13.0' }
      }
      case 'capture:run': return { done: false }
      case 'capture:stop': return { stopped: false }
      case 'fleet:watch': return this.fleet
      case 'fleet:drain': case 'fleet:collect': return undefined
      case 'fleet:use': return { done: true, state: { ...this.fleet, server: (request as { server: string }).server, connection: 'up' } }
      case 'fleet:plan': return { text: '1 operation × 2 sizes × f32 × 3 implementations, hot: 12 cases, about 8 s' }
      case 'fleet:run': return { sessionId: 'session-1', cases: 12, devices: 3 }
      case 'fleet:cancel':
        this.fleet = { ...this.fleet, sessions: this.fleet.sessions.filter(({ id }) => id !== r.sessionId) }
        return { cases: 36, undoable: true }
      case 'fleet:restore': return { cases: 36 }
      case 'remotes:list': case 'remotes:remove': return []
      case 'remotes:add': return { done: true, remote: { name: 'gpubox', destination: (request as { destination: string }).destination } }
      case 'devices:list': return mockDevices
      case 'ceilings:list': return this.options.empty ? [] : mockCeilings
      case 'baselines:get': return this.baselines
      case 'baselines:set': return (this.baselines = { ...this.baselines, ...(request as { pins: Pin[] }) })
      case 'noise:list': return this.options.empty ? [] : mockNoiseFloors
      case 'self-check:run': return this.run(Array.from({ length: 40 }, (_, i) => ({ op: 'add', params: { n: 2 ** (20 + (i % 4)) }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'hot' })), this.add('Self-check', [], 1, 0, 'running'))
      case 'run:state': return this.state
      case 'run:start': return this.run(planSweep(r.spec, mockDevices).cases, this.add(r.name ?? 'New run', [], 1, 0, 'running'))
      case 'ceilings:measure': return this.run([{ op: 'copy', params: { n: 2 ** 24 }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'hot' }], this.add('Ceilings', [], 1, 0, 'running'))
      case 'run:resume-session': return this.run(planSweep(SPEC, mockDevices).cases.slice(0, 20), this.stored(r.sessionId))
      case 'run:pause': return this.setState({ ...this.state, phase: 'paused' })
      case 'run:resume': return this.setState({ ...this.state, phase: 'running' })
      case 'run:stop': return this.finish('stopped')
      case 'sessions:list': return [...this.sessions.values()].filter((s) => !s.deleted && JSON.stringify(this.summary(s)).toLowerCase().includes(r.search.toLowerCase())).map((s) => this.summary(s)).reverse()
      case 'sessions:suites': return [...this.sessions.values()].flatMap(({ session, deleted }) => (session.spec?.suite !== undefined && !deleted ? [{ id: session.id, suite: session.spec.suite }] : [])).reverse()
      case 'sessions:get': return { session: this.stored(r.id).session, environment: mockEnvironment, results: this.stored(r.id).results.length }
      case 'sessions:rows': return { ...packBlock(blockOf(this.stored(r.id).results.slice(r.first, r.first + r.count), r.first)), total: this.stored(r.id).results.length }
      case 'sessions:findings': return adviseSession({ environment: mockEnvironment, results: this.stored(r.id).results }, mockCeilings)
      case 'sessions:result': {
        const found = [...this.sessions.values()].flatMap((s) => s.results).find((result) => result.id === r.resultId)
        if (!found) throw new Error('There is no such result.')
        return found
      }
      case 'sessions:update': {
        const stored = this.stored(r.id)
        stored.session = { ...stored.session, ...(request as Partial<Session>) }
        return this.summary(stored)
      }
      case 'sessions:delete': r.ids.forEach((id) => (this.stored(id).deleted = true)); return { deleted: r.ids.length }
      case 'sessions:end': {
        const stored = this.stored(r.id)
        stored.session = { ...stored.session, state: 'stopped' }
        return this.summary(stored)
      }
      case 'sessions:restore': r.ids.forEach((id) => (this.stored(id).deleted = false)); return { restored: r.ids.length }
      case 'sessions:identifying': return identifying({ schemaVersion: 2, session: this.stored(r.id).session, environment: mockEnvironment, results: this.stored(r.id).results })
      case 'suite:save': return { done: true, into: 'reports', names: ['comprehensive.md', 'comprehensive.svg'] }
      case 'suite:previous': return {}
      case 'sessions:export': return { done: true, name: 'session.json' }
      case 'sessions:copy': return { done: true, bytes: 2048 }
      case 'formats:list': return FORMATS.map(formatInfo)
      case 'transfer:cancel': return { stopped: false }
      case 'sessions:take-opened': return { sweeps: [], imported: [], problems: [], warnings: [] }
      case 'sessions:import-dropped':
      case 'sessions:import': return { sweeps: [], imported: [], problems: ['notes.json: not an Opscope session; expected schemaVersion 2, found none'], warnings: [] }
      case 'compare:run': return this.compare(request as CompareRequest)
      case 'compare:open-files':
      case 'compare:drop-files': return this.openFiles((request as { dropped?: { name: string }[] } | undefined)?.dropped?.map(({ name }) => name) ?? ['results.json'])
      case 'compare:cancel':
      case 'compare:forget-files': return undefined
      case 'compare:names': return { hosts: [mockEnvironment.host], users: [], serials: [] }
      case 'compare:save': return { done: true, name: 'comparison.csv' }
      case 'compare:resolve': return this.run(planSweep(SPEC, mockDevices).cases.slice(0, 40), this.add('Unclear cases', [], 1, 0, 'running'))
      case 'compare:can-resolve': return {}
      case 'chart:save': return { done: true, name: 'chart.png' }
      case 'history:case': return packCaseHistory(this.history((request as Request<'history:case'>).caseId))
      case 'history:check': return { findings: [], sessions: this.sessions.size, results: 1000, bytes: 2 ** 24, ms: 120 }
      case 'history:backup': return { done: true, contents: { name: 'opscope-history.db', sessions: this.sessions.size, results: 1000, bytes: 2 ** 24 } }
      case 'history:restore': return { done: false }
      case 'sessions:tags': return (request as Request<'sessions:tags'>).changes.map(({ id, tags }) => {
        const stored = this.stored(id)
        stored.session = { ...stored.session, tags }
        return this.summary(stored)
      })
      case 'sessions:merge': return { session: this.summary(this.add('Merged', this.stored(r.ids[0]!).results.map((result) => result.case), 1, 0, 'done')), differences: [] }
      case 'sessions:split': return [this.summary(this.add('Part', this.stored(r.id).results.slice(0, 4).map((result) => result.case), 1, 0, 'done'))]
      case 'window:open':
      case 'fault:page':
      case 'fault:show':
      case 'shell:open-link': return undefined
    }
  }

  private history(id: string): CaseHistory {
    const points = [...this.sessions.values()].flatMap(({ session, results }): CasePoint[] => {
      const found = results.find((result) => caseId(result.case) === id && result.summary)
      return found ? [{ sessionId: session.id, name: session.name, createdAt: session.createdAt, resultId: found.id, medianNs: found.summary!.medianNs, results: 1, place: [['Machine', mockEnvironment.host]] }] : []
    })
    const known = [...this.sessions.values()].flatMap(({ results }) => results).find((result) => caseId(result.case) === id)
    return { ...(known ? { case: known.case } : {}), points: points.sort((a, b) => a.createdAt.localeCompare(b.createdAt)), failed: 0 }
  }

  private setState(state: RunState): RunState {
    this.state = state
    this.emit('run:state', state)
    return state
  }

  private run(cases: BenchmarkCase[], stored: Stored): { sessionId: string } {
    const { id, name } = stored.session
    this.queue = [...cases]
    stored.session = { ...stored.session, planned: stored.results.length + cases.length }
    this.setState({ phase: 'running', sessionId: id, sessionName: name, done: 0, total: cases.length, failures: 0 })
    const tick = () => {
      if (this.state.phase === 'idle') return
      if (this.state.phase === 'running') {
        const next = this.queue.shift()
        if (!next) return void this.finish('done')
        const result = mockResult(next, `${id}-${stored.results.length}`, 1)
        const first = stored.results.push(result) - 1
        this.emit('run:results', { sessionId: id, block: blockOf([result], first) })
        this.setState({ ...this.state, done: this.state.done + 1, failures: this.state.failures + Number(result.status !== 'ok'), current: `${next.op} ${JSON.stringify(next.params)} ${next.dtype} ${next.backend} ${next.mode}`, currentPhase: 'sampling', samples: 24, secondsLeft: this.queue.length * 0.4 })
      }
      setTimeout(tick, this.options.pace ?? 150)
    }
    setTimeout(tick, this.options.pace ?? 150)
    return { sessionId: id }
  }

  private finish(how: 'done' | 'stopped'): RunState {
    const { sessionId, failures } = this.state
    this.queue = []
    if (sessionId) {
      this.stored(sessionId).session = { ...this.stored(sessionId).session, state: how }
      this.emit('run:ended', { sessionId, state: how, failures })
      this.emit('sessions:changed', { ids: [sessionId] })
    }
    return this.setState({ phase: 'idle', done: 0, total: 0, failures: 0 })
  }

  /** Files hold what the second session holds; those that are not JSON cannot be read. */
  private openFiles(names: readonly string[]): Reply<'compare:drop-files'> {
    const sides = names.filter((name) => name.endsWith('.json')).map((fileName): FileSide => {
      const { session, results } = this.add(`In ${fileName}`, this.stored('session-2').results.map((result) => result.case), 1.03, 0, 'done')
      this.sessions.delete(session.id)
      const id = `file-${session.id}`
      this.sessions.set(id, { session: { ...session, id }, results, deleted: true })
      return { id, name: session.name, fileName, createdAt: session.createdAt, results: results.length }
    })
    return { sides, problems: names.filter((name) => !name.endsWith('.json')).map((name) => `${name}: not a format that can be read`), warnings: [] }
  }

  private compare(request: CompareRequest): Comparison {
    const load = (id: string): ComparedSession => {
      const { session, results } = this.stored(id)
      const block = blockOf(results, 0)
      return { id, name: session.name, createdAt: session.createdAt, ...(id.startsWith('file-') ? { fileName: session.name.slice(3) } : {}), environment: { ...mockEnvironment, noiseFloors: mockNoiseFloors }, rows: results.map((_, i) => rowAt(block, i)) }
    }
    const results = new Map([...this.sessions.values()].flatMap((stored) => stored.results.map((result) => [result.id, result])))
    const resultOf = (id: string) => results.get(id)!
    const options = { threshold: this.settings.compareThreshold, byOp: this.settings.compareOpThresholds, filter: request.filter }
    if ('sessionId' in request) return compareWithin(load(request.sessionId), request, resultOf, options)
    return { ...compareSessions(request.sessionIds.map(load), resultOf, options), environmentDifferences: ['Driver: 560.35 in “Driver 560, baseline”, 570.86 in “Driver 570”.'] }
  }
}

/** Puts a mock in the place of the preload's API. */
export function installMockApi(options: MockOptions = {}): MockApi {
  const api = new MockApi(options)
  window.opscope = api
  return api
}
