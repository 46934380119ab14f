import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { drain } from '@core/compare'
import { checkText, isAlert, slowestText, verdictText, withPin, type Pin } from '@core/compare/pinned'
import type { RunState } from '@core/ipc'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { Environment } from '@core/session/types'
import type { Services } from '../app/services'
import { openHistory, type History } from '../history'
import { baselineHandlers } from '../ipc/handlers/baselines'
import { NotFoundError } from '../history/types'
import { testCase, testEnvironment, testResult, testSettings } from '../history/testing/sessions'
import { Emitter } from '../runner/events'
import type { RunnerEvents } from '../runner/types'
import { BaselineStore } from './baselines'
import { baselineFor, checkSteps, previousOfSuite, suiteCheckSteps } from './check-steps'
import { watchBaselines } from './watch'

let folder: string
let history: History
let store: BaselineStore
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-baselines-'))
  history = openHistory(join(folder, 'history.db')).history
  store = new BaselineStore(join(folder, 'baselines.json'))
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

const cases = [testCase(1), testCase(2), testCase(3)]
let serial = 0
/** A complete session in which case i takes `factors[i]` times the usual. */
function measured(factors: readonly number[], environment: Environment = testEnvironment, own: readonly BenchmarkCase[] = cases, suite?: string): string {
  const spec: SweepSpec = { ops: [], sizes: {}, dtypes: [], targets: [], modes: [], preset: 'quick', ...(suite ? { suite } : {}) }
  const { id } = history.createSession({ name: 'Nightly', environment, settings: testSettings, cases: own, ...(suite ? { spec } : {}) })
  factors.forEach((factor, i) => {
    const result = testResult(`r${serial++}`, own[i]!)
    history.addResult(id, { ...result, samplesNs: result.samplesNs.map((ns) => ns * factor), summary: { ...result.summary!, medianNs: result.summary!.medianNs * factor } })
  })
  history.setState(id, 'done')
  return id
}
const pinned = (...ids: string[]): Pin[] => ids.reduce<Pin[]>((pins, sessionId, i) => withPin(pins, { name: `project ${i}`, sessionId }), [])

describe('the pinned baseline of a session', () => {
  it('is the one with most of its cases on the same hardware, whatever the driver', () => {
    const few = measured([1], testEnvironment, [testCase(1)])
    const all = measured([1, 1, 1])
    const later = measured([1, 1, 1], { ...testEnvironment, devices: [{ ...testEnvironment.devices[0]!, driver: 'next' }] })
    expect(baselineFor(history, pinned(few, all), later)?.sessionId).toBe(all)
    const elsewhere = { ...testEnvironment, devices: [{ ...testEnvironment.devices[0]!, name: 'Another CPU' }] }
    expect(baselineFor(history, pinned(few, all), measured([1, 1, 1], elsewhere))).toBeUndefined()
    expect(baselineFor(history, pinned(all), measured([1], testEnvironment, [testCase(9)]))).toBeUndefined()
  })

  it('is no deleted session, and no baseline has one', () => {
    const [one, two] = [measured([1, 1, 1]), measured([1, 1, 1])]
    expect(baselineFor(history, pinned(one), one)).toBeUndefined()
    history.deleteSessions([one])
    expect(baselineFor(history, pinned(one), two)).toBeUndefined()
    history.restoreSessions([one])
    expect(baselineFor(history, pinned(one), two)?.sessionId).toBe(one)
  })
})

it('a check counts verdicts by the rule of every comparison and names what is slower', () => {
  const base = measured([1, 1, 1])
  const later = measured([1.3, 0.7, 1])
  const check = drain(checkSteps(history, pinned(base), later, {}))!
  expect(check).toMatchObject({ sessionId: later, baselineId: base, project: 'project 0', cases: 3, slower: 1, faster: 1, wrong: 0 })
  expect(check.slowest.map(slowestText)).toEqual([expect.stringMatching(/^add .*: 1\.3\dx slower$/)])
  expect([checkText(check), isAlert(check)]).toEqual(['1 case slower, 1 faster than the baseline of “project 0” (3 compared)', true])
  expect(drain(checkSteps(history, pinned(base), later, { threshold: 0.5 }))).toMatchObject({ slower: 0, faster: 0 })
})

describe('the run before one of a suite', () => {
  const elsewhere = { ...testEnvironment, devices: [{ ...testEnvironment.devices[0]!, name: 'Another CPU' }] }
  const of = (suite: string, factors: readonly number[], environment = testEnvironment) => measured(factors, environment, cases, suite)

  it('is the newest complete one before it of the same suite on the same hardware', () => {
    const [oldest, before] = [of('trueno', [1, 1, 1]), of('trueno', [1, 1, 1])]
    of('genesis', [1, 1, 1])
    of('trueno', [1, 1, 1], elsewhere)
    history.setState(of('trueno', [1]), 'stopped')
    const session = of('trueno', [1, 1, 1])
    expect(previousOfSuite(history, session)).toBe(before)
    expect(previousOfSuite(history, oldest)).toBeUndefined()
    history.deleteSessions([before])
    expect(previousOfSuite(history, session)).toBe(oldest)
    expect(previousOfSuite(history, measured([1, 1, 1]))).toBeUndefined()
  })

  it('is what a regression is told against', () => {
    const before = of('trueno', [1, 1, 1])
    const session = of('trueno', [1.3, 1, 1])
    const check = drain(suiteCheckSteps(history, session, {}))!
    expect(check).toMatchObject({ sessionId: session, baselineId: before, baselineAt: history.getSession(before).session.createdAt, cases: 3, slower: 1, slowest: [{ what: expect.stringContaining('add') }] })
    expect(verdictText(check, 'the previous run')).toBe('1 case slower than the previous run (3 compared)')
  })
})

it('a project has one baseline and a session is that of one project', () => {
  const pins = withPin(withPin(withPin([], { name: 'a', sessionId: '1' }), { name: 'a', sessionId: '2' }), { name: 'b', sessionId: '2' })
  expect(pins).toEqual([{ name: 'b', sessionId: '2' }])
})

it('pins and checks are kept, one check a session, and a damaged file is as none', () => {
  const check = { sessionId: 's', project: 'p', baselineId: 'b', cases: 1, slower: 1, faster: 0, unclear: 0, wrong: 0, slowest: [] }
  const pins = [{ name: 'p', sessionId: 'b' }]
  writeFileSync(join(folder, 'baselines.json'), JSON.stringify({ pins, checks: [{ ...check, slowest: ['add: 1.30x slower'] }] }))
  expect(store.read()).toEqual({ pins, checks: [check] })
  store.addCheck(check)
  new BaselineStore(join(folder, 'baselines.json')).addCheck({ ...check, slower: 0 })
  expect(store.read()).toEqual({ pins: [{ name: 'p', sessionId: 'b' }], checks: [{ ...check, slower: 0 }] })
  writeFileSync(join(folder, 'baselines.json'), '{"pins":7}')
  expect(store.read()).toEqual({ pins: [], checks: [] })
})

it('the page pins sessions that are there, other windows hear of it, and an old pin may outlive its session', () => {
  const emit = vi.fn()
  const handlers = baselineHandlers({ baselines: store, history, emit } as unknown as Services)
  const id = measured([1, 1, 1])
  expect(() => handlers['baselines:set']({ pins: [{ name: 'p', sessionId: 'nowhere' }] }, 1)).toThrow(NotFoundError)
  expect(handlers['baselines:set']({ pins: [{ name: 'p', sessionId: id }] }, 1).pins).toEqual([{ name: 'p', sessionId: id }])
  expect(emit).toHaveBeenCalledWith('baselines:changed', handlers['baselines:get'](), { except: 1 })
  history.deleteSessions([id])
  expect(handlers['baselines:set']({ pins: [{ name: 'q', sessionId: id }] }, 1).pins).toHaveLength(1)
})

describe('a run that ends', () => {
  const runner = new Emitter<RunnerEvents>()
  function watch() {
    const state: RunState = { phase: 'idle', done: 0, total: 0, failures: 0 }
    const [emit, tell] = [vi.fn(), vi.fn()]
    const services = { runner: Object.assign(runner, { state: () => state }), history, settings: { get: () => ({}) }, baselines: store, emit } as unknown as Services
    watchBaselines(services, tell)
    return { state, emit, tell, end: (sessionId: string, how: 'done' | 'stopped' = 'done') => runner.emit('ended', { sessionId, state: how, failures: 0 }) }
  }

  it('is compared once nothing is measured, and told to the page and the user', async () => {
    const { state, emit, tell, end } = watch()
    store.setPins(pinned(measured([1, 1, 1])))
    const [slow, same, stopped] = [measured([1.3, 1, 1]), measured([1, 1, 1]), measured([1.3, 1, 1])]
    state.phase = 'running'
    end(slow)
    await new Promise(setImmediate)
    expect(tell).not.toHaveBeenCalled()
    state.phase = 'idle'
    end(same)
    end(stopped, 'stopped')
    await expect.poll(() => tell.mock.calls).toHaveLength(2)
    expect(tell.mock.calls.map(([check]) => [(check as { sessionId: string }).sessionId, (check as { slower: number }).slower])).toEqual([[slow, 1], [same, 0]])
    expect(emit.mock.calls.map(([event]) => event as string)).toEqual(['baselines:changed', 'baselines:checked', 'baselines:changed', 'baselines:checked'])
    expect(store.read().checks.map(({ sessionId }) => sessionId)).toEqual([same, slow])
  })
})
