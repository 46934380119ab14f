import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exitReason, splitUtilityExit, forkNodeProcess } from './child-process'
import { connect } from './link'

const folder = mkdtempSync(join(tmpdir(), 'opscope-worker-'))
let count = 0
/** A link to a Node process that runs this script. */
function start(script: string, readyMs = 10_000) {
  const path = join(folder, `worker-${(count += 1)}.mjs`)
  writeFileSync(path, script)
  return connect(forkNodeProcess(path, process.env), readyMs)
}
const ready = `process.send({ type: 'ready' });`
/** Talks about exchange 7 whatever it is sent. */
const echo = `${ready} process.on('message', (m) => process.send({ type: 'progress', id: m.id, phase: 'sampling', samples: new Float64Array([2])[0] }));`
const exitOf = async (script: string) => {
  const link = await start(script)
  return new Promise<string>((resolve) => link.onExit(resolve))
}

test('messages go both ways once the process is ready', async () => {
  const link = await start(echo)
  const heard = new Promise((resolve) => link.onMessage(resolve))
  link.send({ type: 'cancel', id: 7 })
  expect(await heard).toEqual({ type: 'progress', id: 7, phase: 'sampling', samples: 2 })
  const gone = new Promise((resolve) => link.onExit(resolve))
  link.kill()
  expect(await gone).toMatch(/^killed by SIGKILL/)
})

test.each([
  ['a status', `${ready} setTimeout(() => process.exit(3), 20)`, /^exited with status 3$/],
  ['a segmentation fault', `${ready} setTimeout(() => process.kill(process.pid, 'SIGSEGV'), 20)`, /^killed by SIGSEGV: it touched memory/],
  ['an abort, with its last words', `${ready} setTimeout(() => { console.error('assertion failed'); process.abort() }, 20)`, /^killed by SIGABRT[^\n]*\n[^]*assertion failed/],
  ['an uncaught error', `${ready} setTimeout(() => { throw new Error('lost it') }, 20)`, /^exited with status 1\n[^]*lost it/],
])('the end of a process by %s is told in words', async (_what, script, expected) => {
  expect(await exitOf(script)).toMatch(expected)
})

test('a process that ends, rambles or stays silent before it is ready is not a host', async () => {
  await expect(start(`console.error('no addon'); process.exit(4)`)).rejects.toThrow(/^the measurement process exited with status 4\n.*no addon/)
  await expect(start(`process.send('hello'); setInterval(() => {}, 1000)`)).rejects.toThrow(/something other than "ready"/)
  await expect(start(`setInterval(() => {}, 1000)`, 300)).rejects.toThrow(/not ready within 0.3 s/)
})

test('exit codes of every platform read as words', () => {
  expect(exitReason(0, null)).toBe('exited before its work was done')
  expect(exitReason(0xc0000005 | 0, null)).toMatch(/access violation/)
  expect(splitUtilityExit(11, 'linux')).toEqual({ code: null, signal: 'SIGSEGV' })
  expect(splitUtilityExit(0x86, 'linux')).toEqual({ code: null, signal: 'SIGABRT' })
  expect(splitUtilityExit(3, 'linux')).toEqual({ code: 3, signal: null })
  expect(splitUtilityExit(1, 'linux')).toEqual({ code: 1, signal: null })
  expect(splitUtilityExit(3, 'win32')).toEqual({ code: 3, signal: null })
})
