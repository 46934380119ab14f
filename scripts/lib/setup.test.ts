import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packAsar } from './asar.mjs'
import { electronBinary } from './electron.mjs'
import { withLock } from './lock.mjs'
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

describe('withLock', () => {
  it('lets one in at a time', async () => {
    const lock = join(folder, 'lock')
    const order: string[] = []
    const work = (name: string) => withLock(lock, async () => {
      order.push(`${name} in`)
      await new Promise((resolve) => setTimeout(resolve, 20))
      order.push(`${name} out`)
    })
    await Promise.all([work('a'), work('b')])
    expect(order).toEqual(['a in', 'a out', 'b in', 'b out'])
  })

  it('takes over from a process that is gone, and gives up the lock after a failure', async () => {
    const lock = join(folder, 'lock')
    writeFileSync(lock, '999999999')
    await expect(withLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(() => readFileSync(lock)).toThrow()
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
