import { EventEmitter } from 'node:events'
import type { BrowserWindow } from 'electron'
import { describe, expect, it, vi } from 'vitest'
import { AppWindows } from './windows'

class FakeWindow extends EventEmitter {
  destroyed = false
  focused = false
  restore = vi.fn()
  show = vi.fn()
  hide = vi.fn()
  isDestroyed = () => this.destroyed
  isFocused = () => this.focused
  isMinimized = () => true
  focus = () => void this.emit('focus')
  /** As the user closes it; returns whether it closed. */
  close(): boolean {
    const event = { preventDefault: vi.fn() }
    this.emit('close', event)
    if (event.preventDefault.mock.calls.length > 0) return false
    this.destroyed = true
    this.emit('closed')
    return true
  }
}

function open() {
  const opened: { window: FakeWindow; path: string | undefined; first: boolean }[] = []
  const mayClose = vi.fn(() => true)
  const onLast = vi.fn()
  const windows = new AppWindows({
    open({ path, first }) {
      const window = new FakeWindow()
      opened.push({ window, path, first })
      return window as unknown as BrowserWindow
    },
    mayClose,
    onLast,
  })
  return { windows, opened, mayClose, onLast, more: (path?: string) => windows.open(path) as unknown as FakeWindow }
}

describe('the visible windows', () => {
  it('are one first and further ones, each at its address; the one in front is the current one', () => {
    const { windows, opened, more } = open()
    const [a, b] = [more(), more('/session/x')]
    expect(opened.map(({ path, first }) => [path, first])).toEqual([[undefined, true], ['/session/x', false]])
    expect(windows.current()).toBe(b)
    a.focus()
    expect(windows.current()).toBe(a)
    b.focused = true
    expect(windows.isFocused()).toBe(true)
  })

  it('close freely while another is open; the last asks first, and the app ends with it', () => {
    const { windows, mayClose, onLast, more } = open()
    const [a, b] = [more(), more()]
    mayClose.mockReturnValue(false)
    expect(a.close()).toBe(true)
    expect([mayClose.mock.calls.length, onLast.mock.calls.length, windows.all().length]).toEqual([0, 0, 1])
    expect(b.close()).toBe(false)
    mayClose.mockReturnValue(true)
    expect(b.close()).toBe(true)
    expect([onLast.mock.calls.length, windows.current()]).toEqual([1, undefined])
  })

  it('come to the front, or one is opened where there is none', () => {
    const { windows, opened, more } = open()
    windows.show('/session/x')
    expect(opened.map(({ path }) => path)).toEqual(['/session/x'])
    const b = more()
    windows.show()
    expect([b.restore.mock.calls.length, b.show.mock.calls.length, opened.length]).toEqual([1, 1, 2])
    windows.hide()
    expect(opened.every(({ window }) => window.hide.mock.calls.length === 1)).toBe(true)
  })

  it('are at most eight', () => {
    const { more } = open()
    for (let i = 0; i < 8; i++) more()
    expect(() => more()).toThrow('8 windows already')
  })
})
