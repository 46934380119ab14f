import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openingBounds, readWindowState, writeWindowState } from './window-state'

const screen = { x: 0, y: 0, width: 1920, height: 1080 }
const at = (x: number, y: number) => ({ bounds: { x, y, width: 1200, height: 800 }, maximized: false })

describe('openingBounds', () => {
  it('comes back where it was', () => {
    expect(openingBounds(at(300, 100), [screen])).toEqual({ x: 300, y: 100, width: 1200, height: 800 })
  })

  it('comes back on a second screen left of the first', () => {
    expect(openingBounds(at(-1500, 50), [screen, { x: -1920, y: 0, width: 1920, height: 1080 }])).toMatchObject({ x: -1500, y: 50 })
  })

  it.each([at(-1500, 50), at(5000, 0), at(100, -900), at(100, 1070)])('is centred when its title bar is on no screen: %o', (saved) => {
    expect(openingBounds(saved, [screen])).toEqual({ width: 1200, height: 800 })
  })

  it('fits a small screen at the first start', () => {
    expect(openingBounds(undefined, [{ x: 0, y: 0, width: 1024, height: 700 }])).toEqual({ width: 1024, height: 700 })
  })
})

describe('readWindowState', () => {
  it('gives back what was written and ignores what is damaged', () => {
    const folder = mkdtempSync(join(tmpdir(), 'opscope-window-'))
    const file = join(folder, 'window.json')
    expect(readWindowState(file)).toBeUndefined()
    writeWindowState(file, at(1, 2))
    expect(readWindowState(file)).toEqual(at(1, 2))
    for (const text of ['{', '{"bounds":{"x":0,"y":0,"width":-1,"height":5},"maximized":false}', 'null']) {
      writeFileSync(file, text)
      expect(readWindowState(file)).toBeUndefined()
    }
    rmSync(folder, { recursive: true })
  })
})
