import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { SCHEMA_VERSION, sessionFileSchema } from './types'
import { upgradeSessionFile } from './upgrade'

const steps = {
  1: (file: Record<string, unknown>) => ({ ...file, title: file['name'] }),
  2: (file: Record<string, unknown>) => ({ ...file, title: `${String(file['title'])}!` }),
}

it('goes up one version at a time', () => {
  expect(upgradeSessionFile({ schemaVersion: 1, name: 'a' }, steps, 3)).toEqual({ ok: true, file: { schemaVersion: 3, name: 'a', title: 'a!' } })
  expect(upgradeSessionFile({ schemaVersion: 2, title: 'b' }, steps, 3)).toEqual({ ok: true, file: { schemaVersion: 3, title: 'b!' } })
})

it('leaves the current version as it is', () => {
  const file = { schemaVersion: 3, title: 'c' }
  expect(upgradeSessionFile(file, steps, 3)).toEqual({ ok: true, file })
})

it.each([
  [{ schemaVersion: 4 }, 'written by a newer Opscope (version 4); this one reads up to 3'],
  [{ schemaVersion: 0 }, 'expected a whole number from 1 to 3, received 0'],
  [{ schemaVersion: '1' }, 'received "1"'],
  [{ schemaVersion: 1.5 }, 'received 1.5'],
  [{}, 'received nothing'],
])('%j is refused', (file, message) => {
  expect(upgradeSessionFile(file, steps, 3)).toMatchObject({ ok: false, message: expect.stringContaining(message) as string })
})

it('a version without a step is refused, not guessed', () => {
  expect(upgradeSessionFile({ schemaVersion: 1 }, {}, 2)).toEqual({ ok: false, message: 'schemaVersion: files of version 1 can no longer be read' })
})

it.each(Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1))('a file as version %i wrote it is kept with the tests and still reads', (version) => {
  const file = JSON.parse(readFileSync(resolve(import.meta.dirname, `../../test/fixtures/session-v${version}.json`), 'utf8')) as Record<string, unknown>
  expect(file['schemaVersion']).toBe(version)
  const upgraded = upgradeSessionFile(file)
  expect(upgraded.ok && sessionFileSchema.safeParse(upgraded.file).error).toBeUndefined()
  expect(upgraded.ok).toBe(true)
})
