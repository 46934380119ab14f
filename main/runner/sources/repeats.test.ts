import { expect, test } from 'vitest'
import { PRESETS } from '@core/measure/settings'
import { aCase, aSpec, planOf, ScriptedKind, scriptedRunner } from '../testing'

const sizes = (count: number, backend = 'cpu') => Array.from({ length: count }, (_, i) => aCase(i + 1, backend))

/** A host that notes which of its processes measured each case. */
function watched(id: string, behave?: ConstructorParameters<typeof ScriptedKind>[1]) {
  const host = new ScriptedKind(id, behave)
  const processes: number[] = []
  host.onCase = () => processes.push(host.starts)
  return { host, processes }
}

test('a repeated sweep runs whole, time after time, each in processes of its own', async () => {
  const [cpu, gpu] = [watched('cpu'), watched('webgpu')]
  const { runner, history, ended } = scriptedRunner([cpu.host, gpu.host], planOf([...sizes(2), aCase(3, 'webgpu')]))
  const end = ended()
  await runner.start({ ...aSpec(['cpu', 'webgpu']), repeats: 3 })
  expect(runner.state()).toMatchObject({ total: 9 })
  expect(await end).toMatchObject({ state: 'done', failures: 0 })
  expect(history.results('s1').map((r) => [r.case.params['n'], r.run])).toEqual([0, 1, 2].flatMap((run) => [1, 2, 3].map((n) => [n, run])))
  for (const { processes } of [cpu, gpu]) expect(new Set(processes).size).toBe(3)
  expect(cpu.processes[0]).toBe(cpu.processes[1])
  expect(history.sessions.get('s1')!.session.planned).toBe(9)
})

test('a sweep that runs once keeps its process and says nothing of runs', async () => {
  const { host } = watched('cpu')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(2)))
  const end = ended()
  await runner.start(aSpec(['cpu']))
  await end
  expect(host.starts).toBe(1)
  expect(history.results('s1').map((r) => r.run)).toEqual([undefined, undefined])
})

test('a repeated sweep that was stopped goes on with the run it was in', async () => {
  const { host } = watched('cpu')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(3)))
  host.onCase = () => host.measured.length === 5 && runner.pause()
  const first = ended()
  await runner.start({ ...aSpec(['cpu']), repeats: 3 })
  await expect.poll(() => runner.state().phase === 'paused' && runner.state().done).toBe(5)
  runner.stop()
  expect((await first).state).toBe('stopped')
  const second = ended()
  await runner.resumeSession('s1')
  expect(await second).toMatchObject({ state: 'done' })
  expect(history.results('s1').map((r) => [r.case.params['n'], r.run])).toEqual([0, 1, 2].flatMap((run) => [1, 2, 3].map((n) => [n, run])))
})

test('cases are measured by the preset as the user has it, with what the sweep overrides', async () => {
  const host = new ScriptedKind('cpu')
  const { runner, history, ended } = scriptedRunner([host], planOf(sizes(1)), { settings: { presets: { quick: { ...PRESETS.quick, minSamples: 33 } } } })
  const end = ended()
  await runner.start({ ...aSpec(['cpu']), measure: { rule: { id: 'fixed-count', count: 7 }, seed: 5 } })
  await end
  const settings = { ...PRESETS.quick, minSamples: 33, rule: { id: 'fixed-count', count: 7 }, seed: 5 }
  expect(host.requests.map((request) => request.settings)).toEqual([settings])
  expect(history.sessions.get('s1')!.session.settings).toEqual(settings)
})
