import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { HostLink, ToHost } from '@core/measure/protocol'
import { PRESETS } from '@core/measure/settings'
import { testCase, testDevice, testGpu } from '@core/testing'
import { exclusiveLinks, holdDevice, lockNameOf } from '.'

const uuid = (n: number) => `GPU-00000000-0000-0000-0000-00000000000${n}`
const gpu = (n: number) => testGpu({ id: `cuda:${n}`, facts: [{ name: 'PCI bus id', value: `0000:0${n}:00.0` }, { name: 'UUID', value: uuid(n) }] })

test('a GPU is locked by its UUID whoever reports it, everything on the processor by one lock', () => {
  expect(lockNameOf(gpu(1))).toBe(uuid(1).toLowerCase())
  expect(lockNameOf({ ...gpu(1), backend: 'python', id: 'python:cuda:1' })).toBe(lockNameOf(gpu(1)))
  expect(lockNameOf(testGpu({ facts: [{ name: 'PCI bus id', value: '0000:1B:00.0' }] }))).toBe('0000:1b:00.0')
  expect(lockNameOf(testDevice())).toBe('cpu')
  expect(lockNameOf(testDevice({ backend: 'python', sameHardwareAs: { backend: 'cpu', id: 'cpu', name: 'x' } }))).toBe('cpu')
  expect(lockNameOf(testDevice({ backend: 'webgpu', software: true }))).toBe('cpu')
  expect(lockNameOf(testGpu({ backend: 'webgpu' }))).toBeUndefined()
})

test('a process that is killed gives up its device, and one that waits is told who has it', async () => {
  const name = `test-${process.pid}-killed`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', `
    import { takeLock } from ${JSON.stringify(new URL('../../scripts/lib/system-lock.mjs', import.meta.url).href)}
    await takeLock('/opscope-device-${name}')
    process.stdout.write('held')
    setInterval(() => {}, 1000)`], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  const told = Promise.withResolvers<string>()
  const held = holdDevice(name, told.resolve)
  expect(await told.promise).toBe(` (process ${holder.pid})`)
  holder.kill('SIGKILL')
  await (await held)()
})

/** A link whose other end is in the hands of the test. */
function scripted(devices = [gpu(1)]) {
  const sent: ToHost[] = []
  const heard: unknown[] = []
  let say: (message: unknown) => void = () => undefined
  let leave: (reason: string) => void = () => undefined
  const raw: HostLink = {
    send: (message) => {
      sent.push(message)
      if (message.type === 'devices') setImmediate(() => say({ type: 'devices', id: message.id, devices }))
    },
    onMessage: (listener) => (say = listener),
    onExit: (listener) => (leave = listener),
    kill: () => undefined,
  }
  const link = exclusiveLinks()(raw)
  link.onMessage((message) => heard.push(message))
  link.onExit(() => undefined)
  const measured = () => sent.flatMap((message) => (message.type === 'measure' ? [message.id] : []))
  return { link, sent, heard, measured, say: (message: unknown) => say(message), leave: () => leave('killed') }
}
const measure = (id: number, device = 'cuda:1') => ({ type: 'measure', id, case: testCase({ backend: 'cuda', device, impl: 'kernel' }), settings: PRESETS.quick, resultId: `r${id}` }) as const

test('two links never measure on one GPU at once; one ends as the other begins', async () => {
  const [a, b] = [scripted(), scripted()]
  a.link.send(measure(1))
  await expect.poll(a.measured).toEqual([1])
  b.link.send(measure(2))
  await expect.poll(() => b.heard).toContainEqual({ type: 'progress', id: 2, phase: 'waiting', samples: 0 })
  expect(b.measured()).toEqual([])
  a.say({ type: 'result', id: 1 })
  await expect.poll(b.measured).toEqual([2])
  // The runner never hears of the link's own question.
  expect(a.heard).toEqual([{ type: 'result', id: 1 }])
  b.leave()
  a.link.send(measure(3))
  await expect.poll(a.measured).toEqual([1, 3])
  a.leave()
})

test('another GPU is not waited for, and a case that waits can be cancelled', async () => {
  const [a, b] = [scripted([gpu(1), gpu(2)]), scripted([gpu(1), gpu(2)])]
  a.link.send(measure(1))
  await expect.poll(a.measured).toEqual([1])
  b.link.send(measure(2))
  b.link.send(measure(3, 'cuda:2'))
  await expect.poll(b.measured).toEqual([3])
  b.link.send({ type: 'cancel', id: 2 })
  await expect.poll(() => b.heard).toContainEqual({ type: 'cancelled', id: 2 })
  expect(b.sent).not.toContainEqual({ type: 'cancel', id: 2 })
  a.leave()
  b.leave()
})
