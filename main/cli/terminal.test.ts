import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testCase, testResult, testSession } from '@core/testing'
import { runCli } from './run-cli'

/** Clears the screen, sets the title, forges a line, in C0 and in C1, and turns the direction of the text. */
const HOSTILE = 'x\u001b[2J\u001b]0;owned\u0007\u009b2J\u202e\r\nopscope: all is well\b'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-terminal-'))
  vi.stubEnv('OPSCOPE_DATA_DIR', join(folder, 'data'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

async function opscope(...args: string[]) {
  let text = ''
  const write = (part: string) => (text += part)
  const status = await runCli(args, { out: { isTTY: true, write }, err: { isTTY: true, columns: 200, write }, env: process.env }, { onStop: () => undefined })
  return { status, text }
}

function file(name: string, content: object): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

/** A session in which everything that can be text is hostile. */
function hostileSession(id: string) {
  const results = [
    testResult({ id: `${id}-1`, case: testCase({ op: HOSTILE, params: { n: HOSTILE.slice(0, 39) }, impl: HOSTILE.slice(0, 20) }), notes: [HOSTILE] }),
    testResult({ id: `${id}-2`, status: 'failed', summary: undefined, message: HOSTILE, detail: HOSTILE }),
  ]
  const session = testSession(results, { id, name: HOSTILE, notes: HOSTILE, tags: [HOSTILE.slice(0, 30)] })
  return { ...session, environment: { ...session.environment, host: HOSTILE, os: HOSTILE, cpu: HOSTILE } }
}

describe('text of a file', () => {
  it('steers no terminal and forges no line, whichever command prints it', async () => {
    const [one, two] = [file('one.json', hostileSession('one')), file('two.json', hostileSession('two'))]
    const commands = [['import', one], ['sessions'], ['show', 'one'], ['show', 'one', '--findings'], ['compare', one, two], ['compare', 'one', two, '--fail-on', 'wrong'], ['history', 'list'], ['history', 'case', 'one-1'], ['history', 'tag', 'one', '--add', 'seen'], ['history', 'check'],
      ['export', 'one', '--format', 'markdown'], ['export', 'one', '--format', 'csv'], ['show', HOSTILE], ['compare', join(folder, `${HOSTILE}.json`)], [HOSTILE], ['show', 'one', '--json']]
    for (const command of commands) {
      const { text } = await opscope(...command)
      expect(text, command.join(' ')).not.toBe('')
      expect(text, command.join(' ')).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u)
      // What this user typed may be repeated as it was typed, and a file's own text in a file.
      if (!command.includes(HOSTILE) && command[0] !== 'export' && !command.some((word) => word.includes(HOSTILE))) expect(text, command.join(' ')).not.toMatch(/^opscope: all is well/m)
    }
  })

  it.each(['\u001b[2J', 'a\nb', '--json', '../../x', 'a b', ''])('is no id where it is %j', async (id) => {
    const whole = testSession([testResult({ id: 'r' })])
    for (const content of [{ ...whole, session: { ...whole.session, id } }, testSession([testResult({ id })])]) {
      const { status, text } = await opscope('import', file('hostile.json', content))
      expect(status).toBe(1)
      expect(text).toMatch(/hostile\.json: (session|results\[0\])\.id: expected .*; nothing of it was imported/)
      expect(text).not.toMatch(/[^\P{Cc}\n\t]/u)
    }
    expect((await opscope('sessions')).text).toMatch(/There is no session yet/)
  })
})

it('a name has 200 characters at most', async () => {
  for (const [name, length] of [['n'.repeat(5000), 5000], ['  ', 0]] as const) {
    expect(await opscope('run', '--name', name, '--dry-run')).toEqual({ status: 2, text: `opscope: --name expects 1 to 200 characters, received ${length}\n` })
  }
})
