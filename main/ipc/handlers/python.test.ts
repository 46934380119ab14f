import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSettings, type SettingsStore } from '../../app/settings-store'
import { checkNewPrograms, pythonHandlers } from './python'

let folder: string
let settings: SettingsStore
let chosen: string | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-add-'))
  settings = openSettings(join(folder, 'settings.json'))
  chosen = undefined
})
afterEach(() => rmSync(folder, { recursive: true }))

function python(name: string, said = 'Python 3.12.1'): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\necho "${said}"\n`)
  chmodSync(path, 0o755)
  return path
}
const add = (typed?: string) => pythonHandlers({ settings, dialogs: { program: () => Promise.resolve(chosen), open: () => Promise.reject(new Error('no')), save: () => Promise.reject(new Error('no')) } })['python:add']({ typed })
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

it('lets settings name no program that is not there, but keep one that has gone', () => {
  const now = { extra: ['/gone/python'], chosen: ['/gone/python'] }
  expect(() => checkNewPrograms({ ...now, extra: [] }, now)).not.toThrow()
  expect(() => checkNewPrograms({ extra: [], chosen: [python('a')] }, now)).not.toThrow()
  expect(() => checkNewPrograms({ extra: ['/nowhere/python'] }, now)).toThrow(/^There is nothing at \/nowhere\/python\. Expected/)
  expect(() => checkNewPrograms({ extra: [], chosen: ['/nowhere/python'] }, undefined)).toThrow(/^There is nothing at/)
})
