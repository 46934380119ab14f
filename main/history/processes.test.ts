import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from 'vite'
import { openHistory } from '.'
import { testCase, testEnvironment, testResult, testSettings } from './testing/sessions'

/** Several processes on one file, one of them killed. The writer is built like the app: bundled, under plain Node. */
let folder: string
let writer: string
const children: ChildProcess[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-processes-'))
  const root = resolve(import.meta.dirname, '../..')
  await build({
    root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } }, ssr: { noExternal: true },
    build: { ssr: join(import.meta.dirname, 'testing/writer.ts'), outDir: folder, target: 'node20', rolldownOptions: { external: ['@photostructure/sqlite'], output: { entryFileNames: 'writer.mjs' } } },
  })
  writer = join(folder, 'writer.mjs')
}, 120_000)
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** Starts a process that writes results without end and prints the id of each one once it is stored. */
function startWriter(file: string): { child: ChildProcess; session: () => string; stored: string[]; exit: Promise<unknown> } {
  const child = spawn(process.execPath, [writer, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const lines: string[] = []
  const stored: string[] = []
  let rest = ''
  child.stdout!.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop()!
    for (const line of parts) (lines.length === 0 ? lines : stored).push(line)
  })
  return { child, session: () => lines[0]!, stored, exit: once(child, 'close') }
}

test('killed at any moment, a process loses nothing it was told is stored, and its session is found interrupted', async () => {
  const file = join(folder, 'killed.db')
  for (const after of [1, 7, 20]) {
    const { child, session, stored, exit } = startWriter(file)
    await expect.poll(() => stored.length, { interval: 1 }).toBeGreaterThanOrEqual(after)
    const open = openHistory(file)
    expect(open.history.interrupted().map((s) => s.id)).not.toContain(session())
    // What another process measures cannot be deleted under its hands.
    expect(() => open.history.deleteSessions([session()])).toThrow(/is being measured by another Opscope\. Stop the run there first\. Nothing was deleted\./)
    open.history.close()
    child.kill('SIGKILL')
    await exit

    const { history, notice } = openHistory(file)
    expect(notice).toBeUndefined()
    const found = [...history.results(session())]
    expect(found.slice(0, stored.length).map((r) => r.id)).toEqual(stored)
    expect(found.length - stored.length).toBeLessThanOrEqual(1)
    for (const result of found) expect(result).toEqual(testResult(result.id, result.case))
    expect(history.interrupted()[0]).toMatchObject({ id: session(), state: 'interrupted', results: found.length })
    expect(history.remaining(session())).toHaveLength(1000 - found.length)
    history.setState(session(), 'running')
    expect(history.interrupted().map((s) => s.id)).not.toContain(session())
    history.setState(session(), 'stopped')
    expect(history.deleteSessions([session()])).toBe(1)
    history.close()
  }
})

test('two processes write the same file at once', async () => {
  const file = join(folder, 'shared.db')
  const other = startWriter(file)
  await expect.poll(() => other.stored.length).toBeGreaterThan(0)
  const { history } = openHistory(file)
  const mine = history.createSession({ name: 'mine', environment: testEnvironment, settings: testSettings, cases: [] })
  for (let i = 0; i < 30; i++) {
    history.addResult(mine.id, testResult(`mine-${i}`, testCase(i)))
    await new Promise((resume) => setImmediate(resume))
  }
  const theirs = other.stored.length
  other.child.kill('SIGKILL')
  await other.exit
  expect([...history.results(mine.id)]).toHaveLength(30)
  expect([...history.results(other.session())].length).toBeGreaterThanOrEqual(theirs)
  history.close()
})
