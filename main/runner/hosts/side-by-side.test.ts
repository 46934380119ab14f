import { expect, test } from 'vitest'
import { aCase, aDevice, aSpec, MemoryHistory, planOf, ScriptedKind, scriptedRunner } from '../testing'

const onGpu = (n: number, gpu: number) => ({ ...aCase(n, 'cuda'), device: `cuda:${gpu}` })
const gpu = (n: number) => ({ ...aDevice('cuda'), id: `cuda:${n}`, facts: [{ name: 'UUID', value: `GPU-${n}` }] })
const hosts = () => {
  const [cuda, cpu] = [new ScriptedKind('cuda'), new ScriptedKind('cpu')]
  cuda.devices = () => [gpu(0), gpu(1)]
  return { cuda, cpu }
}
const cases = [aCase(9), ...[1, 2, 3].flatMap((n) => [onGpu(n, 0), onGpu(n, 1)])]
const spec = { ...aSpec(['cuda', 'cpu']), targets: [...[0, 1].map((n) => ({ backend: 'cuda', device: `cuda:${n}`, impls: ['x'] })), { backend: 'cpu', device: 'cpu', impls: ['x'] }] }

async function measured(settings: { gpus?: 'side-by-side' }) {
  const { cuda, cpu } = hosts()
  const { runner, history, ended } = scriptedRunner([cuda, cpu], planOf(cases), { settings })
  const end = ended()
  const most: number[] = []
  cuda.onCase = () => most.push(runner.state().current!.split(' · ').length)
  await runner.start(spec)
  await end
  return { order: history.results('s1').map(({ case: c }) => c.device), starts: cuda.starts, most: Math.max(...most) }
}

test('by setting two GPUs are measured at once by a process each, and the processor alone after them', async () => {
  const { order, starts, most } = await measured({ gpus: 'side-by-side' })
  expect([...order].sort()).toEqual(cases.map(({ device }) => device).sort())
  expect(order.at(-1)).toBe('cpu')
  // One process answered the question for devices, and one serves each GPU.
  expect([starts, most]).toEqual([3, 2])
})

test('without it they are measured one after the other, in the order of the plan', async () => {
  expect(await measured({})).toEqual({ order: cases.map(({ device }) => device), starts: 1, most: 1 })
})

test('a result of one GPU that cannot be stored ends the run on the other, and is kept', async () => {
  const { cuda, cpu } = hosts()
  const history = new MemoryHistory()
  const { runner, ended } = scriptedRunner([cuda, cpu], planOf(cases), { history, settings: { gpus: 'side-by-side' } })
  const end = ended()
  await runner.start(spec)
  history.failWrites = true
  expect(await end).toMatchObject({ state: 'stopped', problem: 'disk full' })
  expect(cpu.measured).toEqual([])
})
