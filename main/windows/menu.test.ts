import type { MenuItemConstructorOptions } from 'electron'
import { describe, expect, it, vi } from 'vitest'
import { COMMANDS } from '@core/commands'
import { menuTemplate } from './menu'

const flat = (items: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] => items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? flat(item.submenu) : [])])
const build = (platform: NodeJS.Platform, development = false, send = vi.fn()) => ({ send, items: flat(menuTemplate({ platform, development, send, recent: [], openRecent: vi.fn(), clearRecent: vi.fn() })) })

describe.each(['linux', 'win32', 'darwin'] as const)('menuTemplate on %s', (platform) => {
  it('has every command once, and a click runs it', () => {
    const { items, send } = build(platform)
    for (const { id, title } of COMMANDS) {
      const found = items.filter((item) => item.id === id)
      expect(found).toHaveLength(1)
      expect(found[0]?.label).toBe(title)
      ;(found[0]?.click as () => void)()
    }
    expect(send.mock.calls.map(([id]: unknown[]) => id)).toEqual(COMMANDS.map(({ id }) => id))
  })

  it('gives no key to two items', () => {
    const keys = build(platform).items.flatMap((item) => (item.accelerator ? [item.accelerator] : []))
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('offers developer tools in development only', () => {
    expect(build(platform, true).items.some((item) => item.role === 'toggleDevTools')).toBe(true)
    expect(build(platform).items.some((item) => item.role === 'toggleDevTools' || item.role === 'forceReload')).toBe(false)
  })
})

it('takes no key away from the page outside macOS', () => {
  const registering = build('linux').items.filter((item) => (item.accelerator !== undefined || item.role === 'copy') && item.registerAccelerator !== false)
  expect(registering).toEqual([])
})

it('keeps the keys of text fields with their roles on macOS', () => {
  const { items } = build('darwin')
  expect(items.find((item) => item.id === 'table.copy')?.accelerator).toBeUndefined()
  expect(items.some((item) => item.role === 'copy')).toBe(true)
})

it('lists recent files, opens the one that is chosen, and clears the list', () => {
  const [openRecent, clearRecent] = [vi.fn(), vi.fn()]
  const items = flat(menuTemplate({ platform: 'linux', development: false, send: vi.fn(), recent: ['a.json', 'R&D.json'], openRecent, clearRecent }))
  const menu = items.find(({ id }) => id === 'recent-files')!
  expect([menu.enabled, (menu.submenu as MenuItemConstructorOptions[]).map(({ label }) => label)]).toEqual([true, ['a.json', 'R&&D.json', undefined, 'Clear the list']])
  ;(items.find(({ label }) => label === 'R&&D.json')!.click as () => void)()
  ;(items.find(({ label }) => label === 'Clear the list')!.click as () => void)()
  expect([openRecent.mock.calls, clearRecent.mock.calls.length]).toEqual([[[1]], 1])
  expect(build('linux').items.find(({ id }) => id === 'recent-files')!.enabled).toBe(false)
})
