import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testDevice } from '@core/testing'
import { openSettings, type SettingsStore } from '../../app/settings-store'
import type { Dialogs } from '../../app/dialogs'
import { checkNewPrograms, noteFound, pythonHandlers } from './python'

let folder: string
let settings: SettingsStore
let chosen: string | undefined
let agrees: boolean
/** Paths that the user was asked about. */
let asked: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-add-'))
  settings = openSettings(join(folder, 'settings.json'))
  chosen = undefined
  agrees = true
  asked = []
})
afterEach(() => rmSync(folder, { recursive: true }))

function python(name: string, said = 'Python 3.12.1'): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\ntouch "$0.ran"\necho "${said}"\n`)
  chmodSync(path, 0o755)
  return path
}
const no = () => Promise.reject(new Error('no'))
const confirm: Dialogs['confirm'] = ({ detail }) => {
  asked.push(detail.split('\n')[0]!)
  return Promise.resolve(agrees)
}
const add = (typed?: string) => pythonHandlers({ settings, dialogs: { program: () => Promise.resolve(chosen), confirm, choose: no, open: no, save: no, folder: no } })['python:add']({ typed })
const stored = () => (JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')) as { python: unknown }).python

it('keeps what was typed or chosen, beside the choice there is', async () => {
  const [a, b] = [python('a'), (chosen = python('b'))]
  settings.set({ python: { extra: [], chosen: ['/x'] } })
  expect(await add(a)).toEqual({ done: true, version: '3.12.1', python: { extra: [a], chosen: ['/x'] } })
  expect(await add()).toMatchObject({ done: true, python: { extra: [a, b] } })
  expect(stored()).toEqual({ extra: [a, b], chosen: ['/x'] })
  chosen = undefined
  expect(await add()).toEqual({ done: false })
})

it('refuses one that cannot be used, one that is there and one too many, and changes nothing', async () => {
  const a = python('a')
  await add(a)
  const before = stored()
  await expect(add(a)).rejects.toThrow(`${a} is already looked at.`)
  await expect(add(python('ls', 'coreutils'))).rejects.toThrow(/is not a Python: asked for its version, it said "coreutils"/)
  await expect(add(join(folder, 'gone'))).rejects.toThrow(/^There is nothing at/)
  expect(stored()).toEqual(before)
  settings.set({ python: { extra: Array.from({ length: 20 }, (_, i) => `/env/${i}`) } })
  await expect(add(python('c'))).rejects.toThrow(/At most 20 Pythons/)
})

it('runs nothing that the user has not agreed to in a dialog of main', async () => {
  const a = python('a')
  agrees = false
  expect(await add(a)).toEqual({ done: false })
  expect(asked).toEqual([a])
  expect(existsSync(`${a}.ran`)).toBe(false)
  for (const remote of ['\\\\server\\share\\python.exe', '//server/share/python']) await expect(add(remote)).rejects.toThrow(/is on another machine/)
  expect(asked).toEqual([a])
  agrees = true
  expect(await add(a)).toMatchObject({ done: true })
  chosen = python('b')
  // Chosen in a dialog of main already.
  expect(await add()).toMatchObject({ done: true })
  expect(asked).toEqual([a, a])
})

it('lets settings name only programs that main has found or that they named before, also where these have gone', () => {
  const now = { extra: ['/gone/python'], chosen: ['/gone/python'] }
  const found = new Set<string>()
  noteFound(found, [testDevice({ host: 'gpubox', interpreter: { path: '/bin/sh', source: 'PATH', packages: [] } }), testDevice(), testDevice({ interpreter: { path: '/usr/bin/python3', source: 'PATH', packages: [] } })])
  expect(() => checkNewPrograms({ ...now, extra: [] }, now, found)).not.toThrow()
  expect(() => checkNewPrograms({ extra: ['/gone/python'], chosen: ['/usr/bin/python3', '/gone/python'] }, now, found)).not.toThrow()
  expect(() => checkNewPrograms(undefined, now, found)).not.toThrow()
  for (const path of [python('a'), '/bin/sh', '\\\\server\\share', '/usr/bin/python3']) {
    expect(() => checkNewPrograms({ extra: [path] }, now, found)).toThrow(/is not a Python that Opscope has found\. Add it first/)
    if (path !== '/usr/bin/python3') expect(() => checkNewPrograms({ extra: [], chosen: [path] }, now, found)).toThrow(/is not a Python that Opscope has found/)
  }
})
