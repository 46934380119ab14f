import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openHistory } from '../../history'
import { runCli } from '../../cli/run-cli'
import { openSqlite } from './sqlite'
import { testCase, testEnvironment, testResult, testSettings } from '../testing/sessions'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-damaged-'))
  file = join(folder, 'history.sqlite')
  vi.stubEnv('OPSCOPE_DATA_DIR', folder)
  const { history } = openHistory(file)
  for (const name of ['first', 'second', 'third']) {
    const { id } = history.createSession({ name, environment: testEnvironment, settings: testSettings, cases: [] })
    history.addResult(id, testResult(`${name}-1`, testCase(1)))
    history.setState(id, 'done')
  }
  history.putCeiling({ backend: 'cpu', device: 'cpu', deviceName: 'CPU', kind: 'copy', value: 1, unit: 'bytes/s', measuredAt: '2026-01-01T00:00:00Z', result: testResult('c', testCase(1)) })
  history.close()
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

function damage(sql: string): void {
  const raw = openSqlite(file)
  raw.exec(sql)
  raw.close()
}

async function opscope(...args: string[]) {
  let out = ''
  let err = ''
  const status = await runCli(args, { out: { write: (text) => (out += text) }, err: { write: (text) => (err += text) }, env: process.env }, { onStop: () => undefined })
  return { status, out, err }
}

it.each([
  ["tags = '[oops'", 'tags'],
  ["tags = '{}', ops = '[1]'", 'tags, operations'],
  ["devices = x'00ff'", 'devices'],
  ["state = 'melted'", 'state'],
  ["state = 'running', owner = 'oops', devices = ''", 'devices'],
  ["created_at = 'yesterday'", 'date'],
  ["about = 'nonsense'", 'kind'],
  ["name = x'00', planned = 'many'", 'name, number of cases'],
])('a session whose %s hides no other, is shown as damaged and keeps its results', async (change, what) => {
  damage(`update sessions set ${change} where name = 'second'`)
  const { history } = openHistory(file)
  const listed = history.listSessions({ search: '', deleted: false })
  expect(listed.filter(({ damaged }) => damaged === undefined).map(({ name }) => name)).toEqual(expect.arrayContaining(['first', 'third']))
  const broken = listed.filter(({ damaged }) => damaged !== undefined)
  expect(broken).toMatchObject([{ damaged: what }])
  expect(history.rows(broken[0]!.id, 0, 10).ids).toEqual(['second-1'])
  expect(history.interrupted()).toEqual(broken.filter(({ state }) => state === 'interrupted' && what !== 'state'))
  history.close()
  const { status, out, err } = await opscope('sessions')
  expect(status).toBe(0)
  expect(out).toContain(`damaged: ${what}`)
  expect(out).toMatch(/first[^]*third|third[^]*first/)
  expect(err).toContain('1 session is damaged; opscope history check')
})

it.each([
  [`update session_details set environment = '{"x"'`, ['show', 'last'], /The environment of session "third" \(.*\) is damaged/],
  [`update bodies set json = 'oops'`, ['export', 'last'], /A result of this session is damaged/],
  [`update cases set json = '{'`, ['show', 'last'], /A case of this session is damaged/],
] as const)('what cannot be read is named, and where to look: %s', async (sql, command, words) => {
  damage(sql)
  const { status, err } = await opscope(...command)
  expect(status).toBe(1)
  expect(err).toMatch(words)
  expect(err).toContain('opscope history check')
  expect((await opscope('history', 'check')).status).toBe(1)
})

it('a damaged ceiling keeps no run from starting', () => {
  damage(`update ceilings set json = '{'`)
  const { history } = openHistory(file)
  expect(history.ceilings()).toEqual([])
  history.close()
})
