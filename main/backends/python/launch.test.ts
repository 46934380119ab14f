import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { locateGuest, locateWorker, pythonEnvironment, killGroup, spawnGroup } from './launch'

const only = (path: string) => (candidate: string) => candidate === resolve(path)

test('the worker is found beside the bundle, in the sources, and beside the archive of a packaged app', () => {
  expect(locateWorker('/app/out/main', only('/app/out/main/python/worker.py'))).toBe(resolve('/app/out/main/python'))
  expect(locateWorker('/app/out/main/chunks', only('/app/out/main/python/worker.py'))).toBe(resolve('/app/out/main/python'))
  expect(locateWorker('/app/main/backends/python', only('/app/main/backends/python/worker/worker.py'))).toBe(resolve('/app/main/backends/python/worker'))
  expect(locateWorker('/opt/resources/app.asar/out/main', only('/opt/resources/app.asar.unpacked/out/main/python/worker.py'))).toBe(resolve('/opt/resources/app.asar.unpacked/out/main/python'))
  expect(locateWorker('/app/out/main', () => false)).toBeUndefined()
})

test('the guest library lies beside the addon, or where OPSCOPE_GUEST says, even when nothing is there', () => {
  const find = (from: string, path: string) => locateGuest(from, {}, only(path), 'linux')
  expect(find('/app/out/main', '/app/native/build/libopscope_guest.so')).toBe(resolve('/app/native/build/libopscope_guest.so'))
  expect(find('/opt/resources/app.asar/out/main', '/opt/resources/app.asar.unpacked/native/build/libopscope_guest.so')).toBe(resolve('/opt/resources/app.asar.unpacked/native/build/libopscope_guest.so'))
  expect(locateGuest('/app/out/main', {}, only('/app/native/build/opscope_guest.dll'), 'win32')).toBe(resolve('/app/native/build/opscope_guest.dll'))
  expect(locateGuest('/app', { OPSCOPE_GUEST: '/elsewhere/x.so' }, () => false)).toBe(resolve('/elsewhere/x.so'))
})

test('a Python has the environment of the user, less its own switches and what would set threads behind the back of a case', () => {
  const kept = { PATH: '/bin', CUDA_VISIBLE_DEVICES: '1', LD_LIBRARY_PATH: '/lib', OPSCOPE_GPU_HOLDERS: '/tmp/x', TRITON_CACHE_DIR: '/cache', OMP_WAIT_POLICY: 'PASSIVE' }
  const gone = { PYTHONPATH: '/evil', PYTHONHOME: '/x', PYTHONSTARTUP: 'x.py', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', KMP_AFFINITY: 'compact', GOMP_CPU_AFFINITY: '0', OPSCOPE_PYTHON: '{}', TRITON_INTERPRET: '1' }
  expect(pythonEnvironment({ ...kept, ...gone })).toEqual({ ...kept, OMP_DYNAMIC: 'FALSE', MKL_DYNAMIC: 'FALSE' })
})

/** Starts a process of its own session, which waits, and prints its number; then waits. */
const starter = `
const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
console.log(child.pid)
setInterval(() => {}, 1000)
`
const started: ChildProcess[] = []
afterEach(() => started.splice(0).forEach(killGroup))

async function family(): Promise<{ parent: ChildProcess; apart: number }> {
  const parent = spawnGroup(process.execPath, ['-e', starter], { env: process.env, stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(parent)
  const [line] = (await once(parent.stdout!, 'data')) as [Buffer]
  return { parent, apart: Number(String(line)) }
}

/** Whether a process runs: a dead one may wait for its parent to look at it. */
const runs = (pid: number) => existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

test.runIf(process.platform === 'linux')('a process that left the group ends with it, and that of another stays', async () => {
  const [one, other] = await Promise.all([family(), family()])
  expect(runs(one.apart)).toBe(true)
  killGroup(one.parent)
  await expect.poll(() => runs(one.apart)).toBe(false)
  expect(runs(other.apart)).toBe(true)
})

test.runIf(process.platform === 'linux')('a process that left the group ends although its parent is gone already', async () => {
  const { parent, apart } = await family()
  const ended = once(parent, 'exit')
  process.kill(parent.pid!, 'SIGKILL')
  await ended
  expect(runs(apart)).toBe(true)
  killGroup(parent)
  await expect.poll(() => runs(apart)).toBe(false)
})
