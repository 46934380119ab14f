import { expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { aCase, aDevice, aSpec, planOf, ScriptedKind, scriptedRunner, type Behaviour } from '../testing'

const sizes = (count: number, backend = 'cpu') => Array.from({ length: count }, (_, i) => aCase(i + 1, backend))
const losing = (...of: number[]) => new ScriptedKind('cuda', (c: BenchmarkCase): Behaviour => (of.includes(Number(c.params['n'])) ? 'lose' : 'measure'))

test('a device that is gone fails its other cases with the driver\'s words, untried, and others go on', async () => {
  const [gpu, cpu] = [losing(2), new ScriptedKind('cpu')]
  gpu.devices = () => [{ ...aDevice('cuda'), available: gpu.starts === 1 ? { ok: true } : { ok: false, reason: 'no GPU' } }]
  const { runner, history, ended } = scriptedRunner([gpu, cpu], planOf([...sizes(4, 'cuda'), aCase(9)]))
  const end = ended()
  await runner.start(aSpec(['cuda', 'cpu']))
  expect(await end).toMatchObject({ state: 'done', failures: 3 })
  expect(history.results('s1').map((r) => r.status)).toEqual(['ok', 'failed', 'failed', 'failed', 'ok'])
  expect(history.results('s1')[1]).toMatchObject({ message: 'The GPU stopped answering.', detail: 'off the bus (79)' })
  expect(history.results('s1')[3]).toMatchObject({ message: 'not tried, because its device is gone: The GPU stopped answering.', detail: 'off the bus (79)' })
  expect(gpu.measured).toHaveLength(2)
})

test('a device that a new process has again is measured further', async () => {
  const gpu = losing(2, 4)
  const { runner, history, ended } = scriptedRunner([gpu], planOf(sizes(5, 'cuda')))
  const end = ended()
  await runner.start(aSpec(['cuda']))
  await end
  expect(history.results('s1').map((r) => r.status)).toEqual(['ok', 'failed', 'ok', 'failed', 'ok'])
  expect(gpu.starts).toBe(3)
})

test('a device lost time after time is given up', async () => {
  const gpu = losing(1, 2, 3, 4, 5, 6, 7, 8)
  const { runner, history, ended } = scriptedRunner([gpu], planOf(sizes(8, 'cuda')))
  const end = ended()
  await runner.start(aSpec(['cuda']))
  await end
  expect(gpu.measured).toHaveLength(5)
  expect(history.results('s1').map((r) => r.status)).toEqual(Array(8).fill('failed'))
})

test('what disturbs the devices of a run is told before it, as it is then, and kept with the session', async () => {
  const [gpu, cpu] = [new ScriptedKind('cuda'), new ScriptedKind('cpu')]
  let disturbances: string[] = []
  gpu.devices = () => [{ ...aDevice('cuda'), name: 'H200', disturbances, warnings: ['The driver is old.'] }]
  cpu.devices = () => [{ ...aDevice('cpu'), disturbances: ['Something else.'] }]
  const { runner, history, ended, notices } = scriptedRunner([gpu, cpu], planOf(sizes(1, 'cuda')))
  await runner.devices(false)
  disturbances = ['python (pid 12) holds 3 GiB.']
  const once = async () => {
    const end = ended()
    await runner.start(aSpec(['cuda']))
    await end
  }
  await once()
  expect(notices).toEqual([{ level: 'warning', message: 'Warning: possible interference. H200: python (pid 12) holds 3 GiB. The driver is old.' }])
  expect(history.getSession('s1').environment.devices).toMatchObject([{ name: 'H200', disturbances }])
  // A warning has been told; a disturbance is news each time.
  await once()
  expect(notices[1]?.message).toBe('Warning: possible interference. H200: python (pid 12) holds 3 GiB.')
  disturbances = []
  await once()
  expect(notices).toHaveLength(2)
})

test('what is known of a device\'s noise goes into its sessions, of this driver alone', async () => {
  const { runner, history, ended } = scriptedRunner([new ScriptedKind('cpu')], planOf(sizes(1)))
  const floor = { backend: 'cpu', device: 'cpu', deviceName: 'Test cpu', measuredAt: '2026-01-01T00:00:00Z', pairs: 4, falseVerdicts: 0, ratioP50: 0.001, ratioP95: 0.004, sessionId: 's' }
  history.floors.push(floor, { ...floor, driver: '1' }, { ...floor, device: 'cpu:1' })
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await end
  expect(history.getSession('s1').environment.noiseFloors).toEqual([floor])
})

test('a host whose setting has changed is started anew before it is asked again, and not while nothing has', async () => {
  let setting = 'one'
  const kind = Object.assign(new ScriptedKind('python'), { setting: () => setting })
  kind.devices = () => [{ ...aDevice('python'), name: `Python of start ${kind.starts}` }]
  const { runner } = scriptedRunner([kind], planOf([]))
  const names = async (refresh: boolean) => (await runner.devices(refresh)).map((device) => device.name)
  expect(await names(false)).toEqual(['Python of start 1'])
  expect(await names(true)).toEqual(['Python of start 1'])
  setting = 'two'
  expect(await names(false)).toEqual(['Python of start 2'])
  expect([await names(true), kind.kills]).toEqual([['Python of start 2'], 1])
})

test('without a choice, ceilings and self-checks leave out devices that are other ways to use hardware at hand', async () => {
  const [cpu, python] = [new ScriptedKind('cpu'), new ScriptedKind('python')]
  python.devices = () => [{ ...aDevice('python'), sameHardwareAs: { backend: 'cpu', id: 'cpu', name: 'Test cpu' } }]
  const { runner, ended } = scriptedRunner([cpu, python], planOf([]))
  const measured = async (ids: string[]) => {
    const end = ended()
    await runner.measureCeilings(ids)
    await end
    return [cpu.measured.length, python.measured.length]
  }
  expect(await measured([])).toEqual([1, 0])
  expect(await measured(['python'])).toEqual([1, 1])
})
