import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { associate, associationCommand, dissociate, readAssociation, type AssociationPlace } from './index'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-association-'))
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A home of its own; `path` are the folders where tools are looked for. */
const place = (path: string, command: readonly string[] = ['/opt/opscope/opscope']): AssociationPlace => ({
  platform: 'linux',
  env: { HOME: folder, PATH: path, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config'), XDG_DATA_DIRS: '/usr/share', XDG_CURRENT_DESKTOP: 'GNOME' },
  command,
  icon: join(folder, 'icon.svg'),
})
const below = (name: string) => join(folder, name)
const TOOLS = ['xdg-mime', 'update-mime-database', 'update-desktop-database']
/** On GNOME, `xdg-mime query filetype` asks gio, which reads the MIME database; elsewhere it may ask file(1), which does not. */
const missing = [...TOOLS, 'gio'].filter((tool) => spawnSync('which', [tool]).status !== 0)

describe('associate', () => {
  it('registers and says which tools are missing, then takes everything back', () => {
    const here = place(below('nothing'))
    const state = associate(here)
    expect(state).toMatchObject({ how: 'here', on: true })
    expect(state.notes.map((note) => note.split(' ')[0]).sort()).toEqual([...TOOLS].sort())
    expect(readFileSync(below('data/applications/opscope.desktop'), 'utf8')).toMatch(/^Exec="\/opt\/opscope\/opscope" %U$(.|\n)*^MimeType=.*;x-scheme-handler\/opscope;$/m)
    expect(dissociate(here).on).toBe(false)
    for (const file of ['data/applications/opscope.desktop', 'data/mime/packages/opscope-session.xml', 'data/icons/hicolor/scalable/apps/opscope.svg']) expect(existsSync(below(file)), file).toBe(false)
  })

  it('tells another copy from this one, and takes over from it', () => {
    associate(place('', ['/old/opscope']))
    const here = place('')
    expect(readAssociation(here)).toMatchObject({ on: false, other: '"/old/opscope"' })
    expect(associate(here).on).toBe(true)
    expect(readAssociation(here).other).toBeUndefined()
  })

  it('replaces an entry of an earlier version, which took files alone', () => {
    const here = place('')
    associate(here)
    const entry = below('data/applications/opscope.desktop')
    writeFileSync(entry, readFileSync(entry, 'utf8').replace('%U', '%F'))
    expect(readAssociation(here)).toEqual({ how: 'here', on: false, notes: [] })
    expect(associate(here).on).toBe(true)
  })

  it('says what a tool that fails said', () => {
    const bin = below('bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'xdg-mime'), '#!/bin/sh\necho "no such desktop" >&2\nexit 3\n')
    chmodSync(join(bin, 'xdg-mime'), 0o755)
    expect(associate(place(`${bin}:/bin`)).notes.find((note) => note.startsWith('xdg-mime'))).toMatch(/failed \(no such desktop\), so another app/)
  })

  it('names the place it may not write to', () => {
    writeFileSync(below('data'), 'a file where a folder is expected')
    expect(() => associate(place(''))).toThrow(/could not be registered: .*data/)
  })

  it('leaves the choices for other types when it is taken back', () => {
    mkdirSync(below('config'))
    writeFileSync(below('config/mimeapps.list'), '[Default Applications]\ntext/plain=gedit.desktop\napplication/vnd.opscope.session+json=opscope.desktop\n')
    const here = place('')
    associate(here)
    dissociate(here)
    expect(readFileSync(below('config/mimeapps.list'), 'utf8')).toBe('[Default Applications]\ntext/plain=gedit.desktop\n')
  })

  it('is left to the installer elsewhere', () => {
    const mac: AssociationPlace = { ...place(''), platform: 'darwin' }
    expect(readAssociation(mac)).toEqual({ how: 'installer', on: false, notes: [] })
    expect(() => associate(mac)).toThrow(/installer/)
  })

  it.skipIf(process.platform !== 'linux' || missing.length > 0)(`is what the desktop's own tools answer${missing.length ? ` (skipped: no ${missing.join(', ')})` : ''}`, () => {
    const here = place(process.env['PATH'] ?? '')
    const ask = (...args: string[]) => spawnSync('xdg-mime', ['query', ...args], { env: { ...here.env }, encoding: 'utf8' }).stdout.trim()
    const session = below('softmax.opscope.json')
    const other = below('package.json')
    for (const file of [session, other]) writeFileSync(file, '{"a":1}')
    expect(associate(here).notes).toEqual([])
    expect(ask('filetype', session)).toBe('application/vnd.opscope.session+json')
    expect(ask('filetype', other)).toBe('application/json')
    expect(ask('default', 'application/vnd.opscope.session+json')).toBe('opscope.desktop')
    expect(ask('default', 'application/json')).not.toBe('opscope.desktop')
    expect(dissociate(here).notes).toEqual([])
    expect(ask('filetype', session)).toBe('application/json')
    expect(ask('default', 'application/vnd.opscope.session+json')).toBe('')
  })
})

describe('associationCommand', () => {
  it('starts a packed app by its program, an AppImage by its file, a checkout by its start script', () => {
    expect(associationCommand(true, {}).command).toEqual([process.execPath])
    expect(associationCommand(true, { APPIMAGE: '/home/u/Opscope.AppImage' }).command).toEqual(['/home/u/Opscope.AppImage'])
    const checkout = associationCommand(false, {})
    expect(checkout.command.at(-1)).toMatch(/scripts\/start\.mjs$/)
    expect(existsSync(checkout.command.at(-1)!)).toBe(true)
    expect(existsSync(checkout.icon)).toBe(true)
  })
})
