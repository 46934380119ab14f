import { expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import { rowAt } from '@core/session/rows'
import { aCase, anEnvironment, aSpec, type MemoryHistory, planOf, ScriptedKind, scriptedRunner, type Behaviour } from './testing'
import { BusyError } from './types'

const sizes = (count: number, backend = 'cpu') => Array.from({ length: count }, (_, i) => aCase(i + 1, backend))

/** A host that treats the case of size 2 in this way and measures the rest. */
const odd = (behaviour: Behaviour) => new ScriptedKind('cpu', (c: BenchmarkCase) => (c.params['n'] === 2 ? behaviour : 'measure'))

const statuses = (history: MemoryHistory) => history.results('s1').map((result) => result.status)

test('every result is stored before the next case starts, and rows stream in that order', async () => {
  const host = new ScriptedKind('cpu')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(40)))
  host.onCase = () => expect(history.results('s1')).toHaveLength(host.measured.length - 1)
  const rows: number[] = []
  runner.on('results', ({ block }) => block.ids.forEach((_, i) => rows.push(block.first + i, Number(rowAt(block, i).case.params['n']))))
  const end = ended()
  const { sessionId } = await runner.start(aSpec(['cpu']))
  expect(await end).toEqual({ sessionId, state: 'done', failures: 0 })
  expect(rows).toEqual(sizes(40).flatMap((_, i) => [i, i + 1]))
  expect(history.sessions.get('s1')?.session).toMatchObject({ state: 'done', name: 'add · f32 · cpu' })
  expect(host.starts).toBe(1)
  expect(runner.state().phase).toBe('idle')
})

test('cases go to the host that serves their backend', async () => {
  const [cpu, gpu] = [new ScriptedKind('cpu'), new ScriptedKind('webgpu')]
  const { runner, ended } = scriptedRunner([cpu!, gpu!], planOf([aCase(1), aCase(1, 'webgpu'), aCase(2)]))
  const end = ended()
  await runner.start(aSpec(['cpu', 'webgpu']))
  await end
  expect(cpu!.measured).toHaveLength(2)
  expect(gpu!.measured).toHaveLength(1)
})

/** So many turns of the event loop: a host takes one to get a case, and one to answer. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('a host nobody asked for is not started', async () => {
  const [cpu, gpu] = [new ScriptedKind('cpu'), new ScriptedKind('webgpu')]
  const { runner, ended } = scriptedRunner([cpu!, gpu!], planOf(sizes(1)))
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await end
  expect(gpu!.starts).toBe(0)
})

test('a second run is refused while one is in progress', async () => {
  const { runner } = scriptedRunner([new ScriptedKind('cpu', () => 'hang')], planOf(sizes(2)))
  await runner.start(aSpec(['cpu']))
  await expect(runner.start(aSpec(['cpu']))).rejects.toBeInstanceOf(BusyError)
  await expect(runner.measureCeilings([])).rejects.toBeInstanceOf(BusyError)
})

test('pause waits after the running case and resume goes on', async () => {
  const host = new ScriptedKind('cpu')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(5)))
  host.onCase = (c) => c.params['n'] === 2 && runner.pause()
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await expect.poll(() => history.results('s1').length).toBe(2)
  await turns(50)
  expect(host.measured).toHaveLength(2)
  expect(runner.state()).toMatchObject({ phase: 'paused', done: 2, total: 5 })
  expect(runner.resume().phase).toBe('running')
  expect((await end).state).toBe('done')
})

test('stop ends the running case, keeps what is done, and the session can be taken up again', async () => {
  let obstinate = true
  const host = new ScriptedKind('cpu', (c) => (obstinate && (c.params['n'] === 3 || c.params['n'] === 0) ? 'cancellable' : 'measure'))
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(5)))
  host.onCase = (c) => c.params['n'] === 3 && obstinate && setImmediate(() => runner.stop())
  const first = ended()
  await runner.start(aSpec(['cpu']), ' Named ')
  expect((await first).state).toBe('stopped')
  expect(statuses(history)).toEqual(['ok', 'ok'])
  expect(host.kills).toBe(0)

  obstinate = false
  const firsts: number[] = []
  runner.on('results', ({ block }) => firsts.push(block.first))
  const second = ended()
  expect(await runner.resumeSession('s1')).toEqual({ sessionId: 's1' })
  expect(await second).toEqual({ sessionId: 's1', state: 'done', failures: 0 })
  expect(history.results('s1').map((r) => r.case.params['n'])).toEqual([1, 2, 3, 4, 5])
  expect(firsts[0]).toBe(2)
  await expect(runner.resumeSession('s1')).rejects.toThrow('All 5 cases of "Named" have a result')
})

test('a session that another process measures is left alone', async () => {
  const { runner, history } = scriptedRunner([new ScriptedKind('cpu')], planOf([]))
  const { id } = history.createSession({ name: 'theirs', environment: anEnvironment([]), settings: PRESETS.quick, cases: sizes(2) })
  await expect(runner.resumeSession(id)).rejects.toThrow('"theirs" is being measured by another Opscope.')
})

test('a host deaf to a stop is killed', async () => {
  const host = new ScriptedKind('cpu', () => 'hang')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(3)))
  host.onCase = () => setImmediate(() => runner.stop())
  const end = ended()
  await runner.start(aSpec(['cpu']))
  expect((await end).state).toBe('stopped')
  expect(host.kills).toBe(1)
  expect(history.results('s1')).toEqual([])
})

test('stop while paused ends the run', async () => {
  const host = new ScriptedKind('cpu')
  const { runner, ended } = scriptedRunner([host], planOf(sizes(3)))
  host.onCase = () => runner.pause()
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await expect.poll(() => runner.state().done).toBe(1)
  runner.stop()
  expect((await end).state).toBe('stopped')
})

test.each([
  ['hang', 'timeout', /no progress/],
  ['die', 'crashed', /killed by SIGSEGV/],
  ['garbage', 'crashed', /not in the protocol/],
  ['impostor', 'crashed', /not asked for/],
] as const)('a case that makes its host %s costs that case alone', async (behaviour, status, message) => {
  const host = odd(behaviour)
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(3)))
  const end = ended()
  await runner.start(aSpec(['cpu']))
  expect(await end).toMatchObject({ state: 'done', failures: 1 })
  expect(statuses(history)).toEqual(['ok', status, 'ok'])
  expect(history.results('s1')[1]!.message).toMatch(message)
  expect(host.starts).toBe(2)
})

test('the words of a dying process are kept as detail', async () => {
  const { runner, history, ended } = scriptedRunner([odd('die')], planOf(sizes(3)))
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await end
  expect(history.results('s1')[1]).toMatchObject({ message: 'the measurement process ended: killed by SIGSEGV', detail: 'stderr: boom', bytes: 24 })
})

test('a case the host refuses is failed and the host stays', async () => {
  const host = odd('refuse')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(3)))
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await end
  expect(statuses(history)).toEqual(['ok', 'failed', 'ok'])
  expect(host.starts).toBe(1)
})

test('a host that cannot be started again makes its remaining cases skipped, and others go on', async () => {
  const cpu = odd('die')
  cpu.fail = (start) => (start > 1 ? 'no such program' : undefined)
  const gpu = new ScriptedKind('webgpu')
  const { runner, history, ended } = scriptedRunner([cpu, gpu], planOf([...sizes(4), aCase(9, 'webgpu')]))
  const end = ended()
  await runner.start(aSpec(['cpu', 'webgpu']))
  expect((await end).state).toBe('done')
  expect(statuses(history)).toEqual(['ok', 'crashed', 'skipped', 'skipped', 'ok'])
  expect(history.results('s1')[3]!.message).toMatch(/cannot be started: no such program/)
  expect(cpu.starts).toBe(4)
})

test('a host that starts at the second try loses nothing more', async () => {
  const cpu = odd('die')
  cpu.fail = (start) => (start === 2 ? 'busy' : undefined)
  const { runner, history, ended } = scriptedRunner([cpu], planOf(sizes(4)))
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await end
  expect(statuses(history)).toEqual(['ok', 'crashed', 'ok', 'ok'])
})

test('devices of all hosts are merged and a host that cannot be had is listed with the reason', async () => {
  const gpu = new ScriptedKind('webgpu')
  gpu.fail = (start) => (start === 1 ? 'Electron is not installed' : undefined)
  const { runner } = scriptedRunner([new ScriptedKind('cpu'), gpu], planOf([]))
  const devices = await runner.devices(false)
  expect(devices.map((d) => [d.backend, d.available])).toEqual([
    ['cpu', { ok: true }],
    ['webgpu', { ok: false, reason: 'Electron is not installed' }],
  ])
  expect((await runner.devices(true)).map((d) => [d.backend, d.available])).toEqual([['cpu', { ok: true }], ['webgpu', { ok: true }]])
})

test('devices of a host that answers late do not hold up those of the others', async () => {
  const gpu = new ScriptedKind('webgpu')
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const start = gpu.start.bind(gpu)
  gpu.start = () => opened.then(start)
  const { runner } = scriptedRunner([new ScriptedKind('cpu'), gpu], planOf([]))
  const heard: string[][] = []
  runner.on('devices', (devices) => heard.push(devices.map((d) => d.backend)))
  const [first, second] = [runner.devices(false), runner.devices(false)]
  await expect.poll(() => heard).toContainEqual(['cpu'])
  open()
  expect((await first).map((d) => d.backend)).toEqual(['cpu', 'webgpu'])
  await second
  expect(heard.at(-1)).toEqual(['cpu', 'webgpu'])
  expect(gpu.starts).toBe(1)
})

test('a selection without a case says what is missing', async () => {
  const gpu = new ScriptedKind('webgpu')
  gpu.fail = () => 'no adapter'
  const { runner } = scriptedRunner([gpu], planOf([]))
  await expect(runner.start({ ...aSpec([]), targets: [{ backend: 'webgpu', device: 'webgpu:0', impls: ['wgsl'] }] })).rejects.toThrow('webgpu: no adapter')
  expect(runner.state().phase).toBe('idle')
})

test('ceilings are measured as a session and kept, also when taken up again', async () => {
  const { runner, history, ended } = scriptedRunner([new ScriptedKind('cpu'), new ScriptedKind('webgpu')], planOf([]))
  const events: number[] = []
  runner.on('ceilings', (ceilings) => events.push(ceilings.length))
  const end = ended()
  await runner.measureCeilings(['cpu'])
  await end
  expect(history.sessions.get('s1')?.session.name).toBe('Ceilings of Test cpu')
  expect(history.kept.map((c) => c.device)).toEqual(['cpu'])
  expect(events).toEqual([1])

  const stored = history.sessions.get('s1')!
  stored.results.length = 0
  const again = ended()
  await runner.resumeSession('s1')
  await again
  expect(history.kept).toHaveLength(2)
})

test('a result that cannot be stored ends the run and says so', async () => {
  const { runner, history, ended, notices } = scriptedRunner([new ScriptedKind('cpu')], planOf(sizes(3)))
  history.failWrites = true
  const end = ended()
  await runner.start(aSpec(['cpu']))
  expect((await end).state).toBe('stopped')
  expect(notices).toMatchObject([{ level: 'error', detail: 'disk full' }])
})

test('dispose in mid-run ends the run and leaves no host', async () => {
  const host = new ScriptedKind('cpu', () => 'hang')
  const { runner, history } = scriptedRunner([host], planOf(sizes(3)))
  await runner.start(aSpec(['cpu']))
  await runner.dispose()
  expect(history.sessions.get('s1')?.session.state).toBe('interrupted')
  expect(host.kills).toBe(1)
})

test('the ceilings known of its devices are recorded with a session; a session that measures them starts without', async () => {
  const { runner, history, ended } = scriptedRunner([new ScriptedKind('cpu')], planOf([aCase(1)]))
  const measured = ended()
  const first = await runner.measureCeilings([])
  await measured
  expect(history.getSession(first.sessionId).environment.ceilings).toBeUndefined()
  const end = ended()
  const { sessionId } = await runner.start(aSpec(['cpu']))
  await end
  expect(history.getSession(sessionId).environment.ceilings).toMatchObject([{ backend: 'cpu', device: 'cpu', deviceName: 'Test cpu', kind: 'copy', value: 5e9, result: { samplesNs: [] } }])
})

test('a run that ends with its process can be resumed; one that the user stopped is stopped', async () => {
  const cpu = new ScriptedKind('cpu')
  const { runner, history, ended } = scriptedRunner([cpu], planOf(sizes(4)))
  cpu.onCase = () => cpu.measured.length === 2 && runner.pause()
  const first = await runner.start(aSpec(['cpu']))
  await expect.poll(() => runner.state().phase).toBe('paused')
  const end = ended()
  runner.stop()
  await end
  expect(history.summary(first.sessionId).state).toBe('stopped')
  cpu.measured.length = 0
  const second = await runner.start(aSpec(['cpu']))
  await expect.poll(() => runner.state().phase).toBe('paused')
  await runner.dispose()
  expect(history.summary(second.sessionId)).toMatchObject({ state: 'interrupted', results: 2, planned: 4 })
})
