import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { afterEach, expect, test, vi } from 'vitest'
import { killGroup, spawnGroup } from './process-group'

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
  await vi.waitFor(() => expect(runs(one.apart)).toBe(false), 5000)
  expect(runs(other.apart)).toBe(true)
})

test.runIf(process.platform === 'linux')('a process that left the group ends although its parent is gone already', async () => {
  const { parent, apart } = await family()
  const ended = once(parent, 'exit')
  process.kill(parent.pid!, 'SIGKILL')
  await ended
  expect(runs(apart)).toBe(true)
  killGroup(parent)
  await vi.waitFor(() => expect(runs(apart)).toBe(false), 5000)
})
