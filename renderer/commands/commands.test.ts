import { describe, expect, it } from 'vitest'
import { keysOf, matches, type KeyPress } from './keyboard'
import { matchRank, searchPalette } from './palette'
import { canRun, provideCommand, runCommand } from './registry'

const press = (key: string, part: Partial<KeyPress> = {}): KeyPress => ({ key, code: '', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...part })

describe('accelerators', () => {
  it('match the keys they name and no others', () => {
    expect(matches('CmdOrCtrl+Shift+S', press('S', { ctrlKey: true, shiftKey: true }), false)).toBe(true)
    expect(matches('CmdOrCtrl+S', press('S', { ctrlKey: true, shiftKey: true }), false)).toBe(false)
    expect(matches('CmdOrCtrl+K', press('k', { metaKey: true }), true)).toBe(true)
    expect(matches('CmdOrCtrl+K', press('k', { ctrlKey: true }), true)).toBe(false)
    expect(matches('F1', press('F1'), false)).toBe(true)
  })

  it('know a punctuation key although Shift changes what it types', () => {
    expect(matches('CmdOrCtrl+Shift+.', press('>', { code: 'Period', ctrlKey: true, shiftKey: true }), false)).toBe(true)
  })

  it('are written as on the keyboard', () => {
    expect(keysOf('CmdOrCtrl+Shift+S', false)).toEqual(['Ctrl', 'Shift', 'S'])
    expect(keysOf('CmdOrCtrl+Shift+S', true)).toEqual(['⌘', '⇧', 'S'])
  })
})

describe('the command registry', () => {
  it('asks the handler registered last, and the one before when it is gone', () => {
    const seen: string[] = []
    const first = provideCommand('table.copy', () => seen.push('first'))
    const second = provideCommand('table.copy', () => seen.push('second'))
    runCommand('table.copy')
    second()
    runCommand('table.copy')
    first()
    expect(runCommand('table.copy')).toBe(false)
    expect(seen).toEqual(['second', 'first'])
  })

  it('does not run what is not possible now', () => {
    let possible = false
    let runs = 0
    const remove = provideCommand('run.stop', () => runs++, () => possible)
    expect([canRun('run.stop'), runCommand('run.stop')]).toEqual([false, false])
    possible = true
    expect([canRun('run.stop'), runCommand('run.stop'), runs]).toEqual([true, true, 1])
    remove()
  })
})

describe('the palette search', () => {
  const items = ['Settings', 'Session view', 'Export session as JSON…', 'Import session…'].map((title) => ({ id: title, title, group: '', run: () => undefined }))
  it('puts prefixes before words and words before scattered letters', () => {
    expect(searchPalette(items, 'se').map((item) => item.title).slice(0, 2)).toEqual(['Settings', 'Session view'])
    expect(searchPalette(items, 'exp js')[0]?.title).toBe('Export session as JSON…')
    expect(searchPalette(items, 'isn').map((item) => item.title)).toContain('Import session…')
  })

  it('finds nothing rather than something wrong', () => {
    expect(matchRank('Settings', 'zz')).toBeUndefined()
    expect(searchPalette(items, 'zebra')).toEqual([])
  })
})
