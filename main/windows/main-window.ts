import { BrowserWindow, nativeTheme, screen } from 'electron'
import { safeWebPreferences } from '../app/harden'
import { preloadFile } from '../app/page-files'
import { pageUrl } from '../app/pages'
import { MINIMUM, openingBounds, readWindowState, writeWindowState } from './window-state'

/** Window colours before the page has drawn: `--canvas` of renderer/styles/tokens.css. */
const canvas = () => (nativeTheme.shouldUseDarkColors ? '#0f1114' : '#f4f5f7')

/** A page that dies this soon after the last time is not loaded again. */
const CRASH_PAUSE_MS = 10_000
const RELOAD_MS = 100

/** Distance in px from the window in front to one that is opened beside it. */
const CASCADE = 32

/** Where a window opens beside another, still on its screen. */
function beside(other: BrowserWindow): Electron.Rectangle {
  const { x, y, width, height } = other.getNormalBounds()
  const { workArea } = screen.getDisplayMatching(other.getBounds())
  const shifted = (start: number, length: number, from: number, room: number) => (start + CASCADE + length <= from + room ? start + CASCADE : from)
  return { x: shifted(x, width, workArea.x, workArea.width), y: shifted(y, height, workArea.y, workArea.height), width, height }
}

/** How a visible window is opened. */
export interface WindowPlace {
  /** Where the place of the first window is kept. */
  stateFile: string
  /** The window in front, beside which a further one opens; absent for the first. */
  other?: BrowserWindow | undefined
  /** Address of the page's view; the page decides where absent. */
  path?: string | undefined
}

/** Address of the page; `extra` tells a further window from the first, whose view comes back at the next start. */
const addressOf = (path: string | undefined, extra: boolean): string => `${pageUrl('index.html')}${extra ? '?extra' : ''}${path === undefined ? '' : `#${path}`}`

/** Opens a visible window: the first where it was last time, another beside the one in front. It shows itself when its page has drawn. */
export function openVisibleWindow({ stateFile, other, path }: WindowPlace): BrowserWindow {
  const saved = other ? undefined : readWindowState(stateFile)
  const { primary, others } = screens()
  const window = new BrowserWindow({
    ...(other ? beside(other) : openingBounds(saved, [primary, ...others])),
    minWidth: Math.min(MINIMUM.width, primary.width),
    minHeight: Math.min(MINIMUM.height, primary.height),
    title: 'Opscope',
    show: false,
    backgroundColor: canvas(),
    webPreferences: safeWebPreferences(preloadFile('index.cjs')),
  })
  if (saved?.maximized) window.maximize()
  window.once('ready-to-show', () => window.show())
  nativeTheme.on('updated', recolour)
  function recolour() {
    if (!window.isDestroyed()) window.setBackgroundColor(canvas())
  }
  if (!other) window.on('close', () => saveState(window, stateFile))
  window.on('closed', () => nativeTheme.off('updated', recolour))
  const address = addressOf(path, other !== undefined)
  reloadAfterCrash(window, addressOf(undefined, other !== undefined))
  void window.loadURL(address)
  return window
}

function screens() {
  const primary = screen.getPrimaryDisplay()
  return { primary: primary.workArea, others: screen.getAllDisplays().filter(({ id }) => id !== primary.id).map(({ workArea }) => workArea) }
}

function saveState(window: BrowserWindow, stateFile: string): void {
  try {
    writeWindowState(stateFile, { bounds: window.getNormalBounds(), maximized: window.isMaximized() })
  } catch {
    // The place of a window is not worth a message while it closes.
  }
}

/** A page that dies comes back with what main knows; the run goes on meanwhile. */
function reloadAfterCrash(window: BrowserWindow, address: string): void {
  let last = -Infinity
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return
    const now = performance.now()
    // Later: Electron is still taking the dead page down while it says so, and a load begun now may be lost.
    if (now - last > CRASH_PAUSE_MS) setTimeout(() => window.isDestroyed() || void window.loadURL(address), RELOAD_MS)
    last = now
  })
}
