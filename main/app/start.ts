import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { app, dialog, nativeTheme, powerMonitor, powerSaveBlocker, Menu, type BrowserWindow } from 'electron'
import { webgpuHostKind } from '../backends/webgpu/window'
import { tellPowerSource } from '../environment'
import { createFilesApart } from '../files/apart'
import { openHistory } from '../history'
import { createOpenedFiles, filesIn } from '../import/import-files'
import { createHandlers } from '../ipc/handlers'
import { createEmit, registerRequests } from '../ipc/register'
import { nativeHostKind, pythonHostKind } from '../measurement/host'
import { openDataFolder, type DataPaths } from '../paths'
import { printable } from '../printable'
import { Remotes } from '../remote'
import { createRunner } from '../runner'
import { openMainWindow } from '../windows/main-window'
import { menuTemplate } from '../windows/menu'
import { createDialogs } from './dialogs'
import { forwardRunnerEvents } from './forward'
import { harden } from './harden'
import { createLeave, leaveQuestion, preventSleep } from './leave'
import { surviveFaults, quitCleanly, offerRescue } from './lifecycle'
import { serveAppPages } from './pages'
import type { Services } from './services'
import { openSettings } from './settings-store'

/** Opens everything the handlers need. Needs no window and no Electron readiness, so it runs while Chromium starts. */
function openServices(paths: DataPaths, window: () => BrowserWindow | undefined, shown: Promise<void>): Services {
  const settings = openSettings(paths.settings)
  const { history, notice } = openHistory(paths.history)
  const emit = createEmit(window)
  const remotes = new Remotes(paths.folder, { env: process.env, notice: (message) => emit('notice', { level: 'info', message }) })
  const here = [nativeHostKind(), webgpuHostKind(shown), pythonHostKind(() => settings.get().python)]
  const runner = createRunner({ history, settings: () => settings.get(), hostKinds: () => [...here, ...remotes.kinds()] })
  const files = createFilesApart(paths.history, emit)
  const startNotices = [notice, settings.notice, remotes.store.notice].filter((text): text is string => text !== undefined)
  return { history, runner, settings, remotes, dialogs: createDialogs(window), emit, files, opened: createOpenedFiles({ history, runner, emit, files }), foundPrograms: new Set(), startNotices }
}

/** Starts the app with its visible window. A second start with the same data folder shows the first one's window. */
export function startApp(): void {
  const paths = openDataFolder()
  // Chromium's own files lie with ours, and the lock below is per such folder.
  app.setPath('userData', join(paths.folder, 'electron'))
  // At once: there is nothing open yet that would have to be closed.
  if (!app.requestSingleInstanceLock()) return app.exit(0)

  let window: BrowserWindow | undefined
  const current = () => window
  let markShown = () => {}
  const shown = new Promise<void>((resolve) => (markShown = resolve))
  const services = openServices(paths, current, shown)
  nativeTheme.themeSource = services.settings.get().theme
  forwardRunnerEvents(services)
  offerRescue(services)
  registerRequests(createHandlers(services), current)
  const leave = createLeave({
    runner: services.runner,
    ask: async (state) => {
      const { message, detail, buttons } = leaveQuestion(state)
      return buttons[await services.dialogs.choose({ message, detail, buttons: buttons.map(([, title]) => title) })]![0]
    },
    hide: () => window?.hide(),
    quit: () => app.quit(),
  })
  quitCleanly(services, leave)
  preventSleep(services.runner, powerSaveBlocker)
  const fleetEnds = new AbortController()
  app.on('before-quit', () => fleetEnds.abort())
  // Nobody can answer a question when the machine or a terminal ends the app.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      leave.force()
      app.quit()
    })
  }
  surviveFaults(services)

  function show(): void {
    if (window && !window.isDestroyed()) {
      leave.stay()
      if (window.isMinimized()) window.restore()
      window.show()
      return window.focus()
    }
    window = openMainWindow(join(paths.folder, 'window.json'))
    window.once('show', markShown)
    window.on('close', (event) => {
      if (!leave.allowed()) event.preventDefault()
    })
    window.on('session-end', () => leave.force())
    window.on('closed', () => {
      window = undefined
      // Hidden windows may measure for this one; without it there is nobody to measure for.
      app.quit()
    })
  }
  const open = (paths: readonly string[]) => paths.length > 0 && void services.opened.add(paths)
  open(filesIn(process.argv))
  app.on('second-instance', (_event, argv, folder) => {
    show()
    open(filesIn(argv, folder))
  })
  // macOS hands over files by this event, also at the first start.
  app.on('open-file', (event, path) => {
    event.preventDefault()
    open([path])
  })
  void app.whenReady().then(() => {
    harden()
    if (process.platform !== 'win32') powerMonitor.on('shutdown', () => leave.force())
    if (process.platform !== 'linux') tellPowerSource(() => (powerMonitor.isOnBatteryPower() ? 'battery' : 'mains'))
    serveAppPages()
    installMenu((command) => services.emit('menu:command', { command }))
    show()
    // The client of a fleet is loaded by those who have one.
    if (existsSync(join(paths.folder, 'fleet.json'))) void shown.then(async () => (await import('./collect-fleet')).collectFleet(services, paths.folder, fleetEnds.signal))
  })
}

/** Says in a box why the app cannot start, and ends it. */
export function failToStart(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(printable(`opscope: ${message}\n`))
  dialog.showErrorBox('Opscope cannot start', message)
  app.exit(1)
}

/** Puts the menu bar up; `send` runs a command in the page. */
function installMenu(send: (command: string) => void): void {
  app.setAboutPanelOptions({ applicationName: 'Opscope', applicationVersion: app.getVersion(), copyright: 'MIT licence' })
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate({ platform: process.platform, development: !app.isPackaged, send })))
}
