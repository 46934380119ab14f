import { expect, it } from 'vitest'
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
