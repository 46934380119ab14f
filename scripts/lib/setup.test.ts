import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packAsar } from './asar.mjs'
import { electronBinary } from './electron.mjs'
import { filesBelow, hashOf } from './stamp.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-setup-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('hashOf', () => {
  it('changes with contents, names and number of files, not with times', () => {
    const file = join(folder, 'a.ts')
    writeFileSync(file, 'one')
    const hash = () => hashOf(filesBelow([folder]))
    const first = hash()
    utimesSync(file, 1, 1)
    expect(hash()).toBe(first)
    writeFileSync(file, 'two')
    const second = hash()
    mkdirSync(join(folder, 'sub'))
    writeFileSync(join(folder, 'sub', 'b.ts'), '')
    expect(new Set([first, second, hash()]).size).toBe(3)
  })

  it('leaves out what is skipped and ignores what is missing', () => {
    writeFileSync(join(folder, 'a.ts'), '')
    writeFileSync(join(folder, 'a.test.ts'), '')
    expect(filesBelow([folder, join(folder, 'missing')], (path) => path.endsWith('.test.ts'))).toEqual([join(folder, 'a.ts')])
  })
})

describe('packAsar', () => {
  it('puts each file where the index says', () => {
    const archive = packAsar({ 'package.json': '{"main":"main.js"}', 'main.js': 'äöü' })
    const length = archive.readUInt32LE(12)
    const index = JSON.parse(archive.toString('utf8', 16, 16 + length)) as { files: Record<string, { size: number; offset: string }> }
    const start = 8 + archive.readUInt32LE(4)
    const text = (name: string) => {
      const { size, offset } = index.files[name]!
      return archive.toString('utf8', start + Number(offset), start + Number(offset) + size)
    }
    expect(text('package.json')).toBe('{"main":"main.js"}')
    expect(text('main.js')).toBe('äöü')
    expect(start % 4).toBe(0)
  })
})

describe('electronBinary', () => {
  const before = process.env['ELECTRON_OVERRIDE_DIST_PATH']
  afterEach(() => {
    if (before === undefined) delete process.env['ELECTRON_OVERRIDE_DIST_PATH']
    else process.env['ELECTRON_OVERRIDE_DIST_PATH'] = before
  })

  it('takes the folder of ELECTRON_OVERRIDE_DIST_PATH before all others, and says when it holds no Electron', () => {
    process.env['ELECTRON_OVERRIDE_DIST_PATH'] = folder
    const missing = electronBinary()
    expect('reason' in missing && missing.reason).toContain(folder)
    const name = { darwin: 'Electron.app/Contents/MacOS/Electron', win32: 'electron.exe' }[process.platform as string] ?? 'electron'
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), '')
    expect(electronBinary()).toEqual({ path: join(folder, name), source: 'override' })
  })
})
