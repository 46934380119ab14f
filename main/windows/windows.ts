import type { BrowserWindow } from 'electron'

/** More windows than this help nobody, and a page that asks for them without end gets no further. */
const MAX_WINDOWS = 8

export interface WindowsDeps {
  /** Opens a window at this address of the page. `first`: the one whose place and view come back at the next start. */
  open(options: { path: string | undefined; first: boolean }): BrowserWindow
  /** Whether the last window may close now. */
  mayClose(): boolean
  /** No window is left. */
  onLast(): void
}

/** The visible windows: each shows the same app, and any of them may ask main. */
export class AppWindows {
  /** The one that had the focus last comes last. */
  #windows: BrowserWindow[] = []

  constructor(private readonly deps: WindowsDeps) {}

  /** Those that are open. */
  all(): readonly BrowserWindow[] {
    return this.#windows.filter((window) => !window.isDestroyed())
  }

  /** The window that has the focus or had it last. */
  current(): BrowserWindow | undefined {
    return this.all().at(-1)
  }

  isFocused(): boolean {
    return this.all().some((window) => window.isFocused())
  }

  /** Opens one more window, at an address of the page where one is given. Throws RangeError where there are too many. */
  open(path?: string): BrowserWindow {
    if (this.all().length >= MAX_WINDOWS) throw new RangeError(`There are ${MAX_WINDOWS} windows already. Close one first.`)
    const window = this.deps.open({ path, first: this.all().length === 0 })
    this.#windows.push(window)
    window.on('focus', () => (this.#windows = [...this.#windows.filter((other) => other !== window), window]))
    window.on('close', (event) => {
      if (this.all().length === 1 && !this.deps.mayClose()) event.preventDefault()
    })
    window.on('closed', () => {
      this.#windows = this.#windows.filter((other) => other !== window)
      if (this.#windows.length === 0) this.deps.onLast()
    })
    return window
  }

  /** Brings the current window to the front, or opens the first. */
  show(path?: string): BrowserWindow {
    const window = this.current()
    if (!window) return this.open(path)
    if (window.isMinimized()) window.restore()
    window.show()
    window.focus()
    return window
  }

  hide(): void {
    for (const window of this.all()) window.hide()
  }
}
