import { expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { INTERLEAVE, SELF_CHECK, type Pair } from '@core/compare'
import { PRESETS } from '@core/measure/settings'
import { interleaveSource } from './interleave-source'
import type { Turn } from './source'
import { aCase, aDevice, anEnvironment, aResult, aSpec, MemoryHistory, planOf, ScriptedKind, scriptedRunner, type Behaviour } from '../testing'

const { minQuads, maxQuads } = INTERLEAVE
const pairOf = (n: number): Pair => ({ id: `p${n}`, a: aCase(n), b: { ...aCase(n), impl: 'y' } })

/** A history with a session to add to. */
function withParent() {
  const history = new MemoryHistory()
  const { id } = history.createSession({ name: 'Parent', environment: anEnvironment([aDevice('cpu')]), settings: PRESETS.quick, cases: [] })
  history.setState(id, 'done')
  return history
}
const setUp = (host: ScriptedKind) => scriptedRunner([host], planOf([]), { history: withParent() })

/** A host on which `y` takes `factor` times as long as `x`; the factor of a call is asked for each time. */
function host(factor: () => number, behave?: (c: BenchmarkCase) => Behaviour) {
  const scripted = new ScriptedKind('cpu', behave)
  scripted.samples = (c) => [1, 1.001, 0.999].map((t) => 100 * t * (c.impl === 'y' ? factor() : 1))
  return scripted
}

test('a pair is measured a b b a until it is settled, in a session that adds to its parent', async () => {
  const scripted = host(() => 1.5)
  const { runner, history, ended } = setUp(scripted)
  const end = ended()
  const { sessionId } = await runner.interleave([pairOf(1)], 's1')
  expect(await end).toEqual({ sessionId, state: 'done', failures: 0 })
  const results = history.results(sessionId)
  expect(results).toHaveLength(4 * minQuads)
  expect(results.slice(0, 5).map((r) => [r.case.impl, r.block])).toEqual([
    ['x', { pair: 'p1', quad: 0, place: 0 }], ['y', { pair: 'p1', quad: 0, place: 1 }], ['y', { pair: 'p1', quad: 0, place: 2 }], ['x', { pair: 'p1', quad: 0, place: 3 }], ['x', { pair: 'p1', quad: 1, place: 0 }],
  ])
  // Left open between blocks; the process that holds them is gone with the run.
  expect(scripted.requests.map((request) => request.keep)).toEqual(results.map(() => true))
  expect([scripted.starts, scripted.kills]).toEqual([1, 1])
  expect(history.summary(sessionId)).toMatchObject({ name: 'Parent, unclear cases', about: { kind: 'interleaved', session: 's1' }, state: 'done', planned: 4 * minQuads, results: 4 * minQuads })
})

test('a pair that stays ambiguous has the most blocks', async () => {
  let calls = 0
  const scripted = host(() => (Math.floor(calls++ / 3 / 2) % 2 ? 0.9 : 1.15))
  const { runner, history, ended } = setUp(scripted)
  const end = ended()
  const { sessionId } = await runner.interleave([pairOf(1)], 's1')
  await end
  expect(history.results(sessionId)).toHaveLength(4 * maxQuads)
})

test('what is left of pairs that settle, stay ambiguous or fail comes to nothing in the end', () => {
  const source = interleaveSource({ pairs: [1, 2, 3].map(pairOf), threshold: 0.01, secondsOf: (c) => Number(c.params['n']) })
  const left = () => [...source.left()].reduce((sum, { seconds }) => sum + seconds, 0)
  const before = left()
  expect(before).toBe(2 * minQuads * 4 * (1 + 2 + 3))
  let count = 0
  let step = source.turns.next()
  while (!step.done) {
    const { case: c, mark } = step.value as Turn
    count += 1
    expect(source.total()).toBeGreaterThanOrEqual(count)
    const { quad, place } = mark!.block!
    const ratio = c.impl === 'x' ? 1 : c.params['n'] === 1 ? 2 : quad % 2 ? 1.2 : 0.9
    const failing = c.params['n'] === 3 && quad === 7 && place === 2
    step = source.turns.next([{ ...aResult(String(count), c), ...(failing ? { status: 'failed' as const } : {}), samplesNs: [100 * ratio] }])
  }
  expect(count).toBe(4 * minQuads + 4 * maxQuads + 7 * 4 + 3)
  expect(source.total()).toBe(count)
  expect(left()).toBe(0)
})

test('a cell that is compared with the user\'s threshold is settled by it', async () => {
  const history = withParent()
  let flip = 0
  // One quad says 1.5 % slower, the next 2.5 %: clear at 1 %, and inside 10 %; in between never.
  const scripted = host(() => (Math.floor(flip++ / 6) % 2 ? 1.015 : 1.025))
  const { runner, ended } = scriptedRunner([scripted], planOf([]), { history, settings: { compareThreshold: 0.02 } })
  const end = ended()
  const { sessionId } = await runner.interleave([pairOf(1)], 's1')
  await end
  expect(history.results(sessionId)).toHaveLength(4 * maxQuads)
})

test.each([['refuse', 'failed'], ['die', 'crashed']] as const)('a block that ends in %s gives its pair up and no other', async (behaviour, status) => {
  const { runner, history, ended } = setUp(host(() => 1.5, (c) => (c.params['n'] === 1 && c.impl === 'y' ? behaviour : 'measure')))
  const end = ended()
  const { sessionId } = await runner.interleave([pairOf(1), pairOf(2)], 's1')
  expect(await end).toMatchObject({ state: 'done', failures: 1 })
  const results = history.results(sessionId)
  expect(results.slice(0, 3).map((r) => [r.block?.pair, r.status])).toEqual([['p1', 'ok'], ['p1', status], ['p2', 'ok']])
  expect(results).toHaveLength(2 + 4 * minQuads)
  expect(history.summary(sessionId).planned).toBe(results.length)
})

test('an interleaved comparison can be paused and stopped, and says why it cannot be taken up again', async () => {
  const scripted = host(() => 1.5)
  const { runner, history, ended } = setUp(scripted)
  scripted.onCase = () => scripted.measured.length === 3 && runner.pause()
  const end = ended()
  const { sessionId } = await runner.interleave([pairOf(1)], 's1')
  await expect.poll(() => runner.state()).toMatchObject({ phase: 'paused', done: 3 })
  runner.stop()
  expect((await end).state).toBe('stopped')
  expect(history.results(sessionId)).toHaveLength(3)
  await expect(runner.resumeSession(sessionId)).rejects.toThrow(/"Parent, unclear cases" consists of interleaved measurements.*start it anew/)
})

test('blocks that cannot be stored end the run and say so', async () => {
  const { runner, history, ended, notices } = setUp(host(() => 1.5))
  history.failWrites = true
  const end = ended()
  await runner.interleave([pairOf(1)], 's1')
  expect((await end).state).toBe('stopped')
  expect(notices).toMatchObject([{ level: 'error', detail: 'disk full' }])
})

test('no pairs, or pairs of an unknown session, are refused', async () => {
  const { runner } = setUp(host(() => 1))
  await expect(runner.interleave([], 's1')).rejects.toThrow('there is nothing to measure')
  await expect(runner.interleave([pairOf(1)], 'nowhere')).rejects.toThrow('no session nowhere')
  expect(runner.state().phase).toBe('idle')
})

test('pairs of a session from another machine are refused before a session is made, with the same words as asked before', async () => {
  const scripted = host(() => 1.5)
  const history = new MemoryHistory()
  const environment = anEnvironment([{ ...aDevice('cpu'), name: 'NVIDIA H200' }])
  const { id } = history.createSession({ name: 'Imported', environment, settings: PRESETS.quick, cases: [] })
  const { runner } = scriptedRunner([scripted], planOf([]), { history })
  const reason = 'New measurements cannot join this session: its device cpu is NVIDIA H200, and here it is Test cpu. Measure a new session instead.'
  expect(await runner.whyNotInterleaved([pairOf(1)], id)).toBe(reason)
  await expect(runner.interleave([pairOf(1)], id)).rejects.toThrow(reason)
  // Without its backend altogether, too.
  const cuda: Pair = { id: 'p', a: aCase(1, 'cuda'), b: { ...aCase(1, 'cuda'), impl: 'y' } }
  const other = history.createSession({ name: 'H200', environment: anEnvironment([aDevice('cuda')]), settings: PRESETS.quick, cases: [] }).id
  await expect(runner.interleave([cuda], other)).rejects.toThrow('its device Test cuda (cuda) is not on this machine')
  expect([...history.sessions.keys()]).toEqual([id, other])
  expect(scripted.measured).toEqual([])
})

test('a run whose cases were all skipped is not done', async () => {
  const { runner, history, ended } = scriptedRunner([host(() => 1)], planOf([aCase(1, 'cuda'), aCase(2, 'cuda')]))
  const end = ended()
  const { sessionId } = await runner.start(aSpec(['cpu']))
  expect((await end).state).toBe('stopped')
  expect(history.results(sessionId).map((r) => r.status)).toEqual(['skipped', 'skipped'])
  expect(history.summary(sessionId).state).toBe('stopped')
})

test('a self-check keeps the noise floor of each device it could measure', async () => {
  const [cpu, gpu] = [new ScriptedKind('cpu'), new ScriptedKind('webgpu', () => 'refuse')]
  const { runner, history, ended, notices } = scriptedRunner([cpu, gpu], planOf([]))
  const heard: number[] = []
  runner.on('noiseFloors', (floors) => heard.push(floors.length))
  const end = ended()
  const { sessionId } = await runner.selfCheck([], 4)
  expect((await end).state).toBe('done')
  expect(history.floors).toMatchObject([{ backend: 'cpu', device: 'cpu', deviceName: 'Test cpu', pairs: 4, falseVerdicts: 0, ratioP50: 0, sessionId }])
  expect(history.summary(sessionId)).toMatchObject({ name: 'Noise floor of Test cpu, Test webgpu', about: { kind: 'self-check' } })
  expect(heard).toEqual([1])
  expect(notices).toMatchObject([{ level: 'warning', message: expect.stringMatching(/on Test webgpu, so no noise floor/) }])
  // However little noise there is, each pair has the same number of quads; one that is refused is given up.
  const own = (backend: string) => history.results(sessionId).filter((r) => r.case.backend === backend)
  expect([own('cpu').length, own('webgpu').length]).toEqual([4 * 4 * SELF_CHECK.quads, 4])
  // Two cases stay open in a host, so that two pairs of a case with itself take turns.
  expect(history.results(sessionId).filter((r) => r.block?.place === 0).slice(0, 4).map((r) => r.block!.pair)).toEqual(['cpu-0', 'cpu-1', 'cpu-0', 'cpu-1'])
})

test('a self-check that was stopped keeps no noise floor and says so', async () => {
  const cpu = new ScriptedKind('cpu')
  const { runner, history, ended, notices } = scriptedRunner([cpu], planOf([]))
  cpu.onCase = () => cpu.measured.length === 40 && runner.pause()
  const end = ended()
  await runner.selfCheck([], 4)
  await expect.poll(() => runner.state().phase).toBe('paused')
  runner.stop()
  await end
  expect(history.floors).toEqual([])
  expect(notices).toMatchObject([{ message: 'The self-check was stopped, so no noise floor is kept.' }])
})

test('a self-check without a device says so', async () => {
  const { runner } = scriptedRunner([new ScriptedKind('cpu')], planOf([]))
  await expect(runner.selfCheck(['cuda:0'])).rejects.toThrow('No device is available')
})
