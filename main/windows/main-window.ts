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

/** Opens the visible window where it was last time; it shows itself when its page has drawn. */
export function openMainWindow(stateFile: string): BrowserWindow {
  const saved = readWindowState(stateFile)
  const { primary, others } = screens()
  const window = new BrowserWindow({
    ...openingBounds(saved, [primary, ...others]),
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
  window.on('close', () => saveState(window, stateFile))
  window.on('closed', () => nativeTheme.off('updated', recolour))
  reloadAfterCrash(window)
  void window.loadURL(pageUrl('index.html'))
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
function reloadAfterCrash(window: BrowserWindow): void {
  let last = -Infinity
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return
    const now = performance.now()
    // Later: Electron is still taking the dead page down while it says so, and a load begun now may be lost.
    if (now - last > CRASH_PAUSE_MS) setTimeout(() => window.isDestroyed() || void window.loadURL(pageUrl('index.html')), RELOAD_MS)
    last = now
  })
}
