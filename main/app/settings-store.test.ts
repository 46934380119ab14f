import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '@core/settings'
import { openSettings } from './settings-store'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-settings-'))
  file = join(folder, 'settings.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('openSettings', () => {
  it('starts with the defaults and brings changes back', () => {
    const first = openSettings(file)
    expect(first.get()).toEqual(DEFAULT_SETTINGS)
    expect(first.notice).toBeUndefined()
    first.set({ theme: 'dark' })
    first.set({ lastView: '/history' })
    expect(openSettings(file).get()).toEqual({ ...DEFAULT_SETTINGS, theme: 'dark', lastView: '/history' })
    expect(readdirSync(folder)).toEqual(['settings.json'])
  })

  it('loses only the damaged keys, and says which', () => {
    writeFileSync(file, JSON.stringify({ theme: 'plaid', lastView: '/compare', columns: { results: [{ id: 'median', width: 90 }] } }))
    const store = openSettings(file)
    expect(store.get()).toEqual({ theme: 'system', lastView: '/compare', columns: { results: [{ id: 'median', width: 90 }] } })
    expect(store.notice).toContain('theme')
  })

  it.each(['', '{', 'null', '[]', '"x"'])('reads %j as nothing saved', (text) => {
    writeFileSync(file, text)
    const store = openSettings(file)
    expect(store.get()).toEqual(DEFAULT_SETTINGS)
    expect(store.notice).toContain('could not be read')
  })

  it('forgets a key that is set to undefined', () => {
    const store = openSettings(file)
    store.set({ theme: 'light', lastView: '/run' })
    store.set({ theme: undefined, lastView: undefined })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(DEFAULT_SETTINGS)
  })

  it('keeps what was there when a change is not valid', () => {
    const store = openSettings(file)
    store.set({ theme: 'dark' })
    expect(() => store.set({ lastView: 'x'.repeat(500) })).toThrow()
    expect(openSettings(file).get()).toEqual({ ...DEFAULT_SETTINGS, theme: 'dark' })
  })

  it('ignores keys of the prototype', () => {
    writeFileSync(file, '{"__proto__":{"theme":"dark"},"constructor":1}')
    expect(openSettings(file).get()).toEqual(DEFAULT_SETTINGS)
  })
})
