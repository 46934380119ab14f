import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { app, dialog, nativeTheme, powerMonitor, powerSaveBlocker, Menu, Notification } from 'electron'
import { linkPath, readLink, type Link } from '@core/session/links'
import { setNumberLocale } from '@core/units'
import { webgpuHostKind } from '../backends/webgpu/window'
import { BaselineStore } from '../baselines/baselines'
import { watchBaselines } from '../baselines/watch'
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
import { createLinks, linkIn, registerLinks } from '../windows/links'
import { openVisibleWindow } from '../windows/main-window'
import { menuTemplate } from '../windows/menu'
import { RecentFiles, recentTitles } from '../windows/recent-files'
import { alertOfBaselines, giveRunFeedback } from '../windows/run-feedback'
import { AppWindows } from '../windows/windows'
import { createFaults, watchProcesses } from './crash'
import { createDialogs } from './dialogs'
import { forwardRunnerEvents } from './forward'
import { fleetDesk } from './fleet-desk'
import { harden } from './harden'
import { createLeave, leaveQuestion, preventSleep } from './leave'
import { surviveFaults, quitCleanly, offerRescue } from './lifecycle'
import { serveAppPages } from './pages'
import type { Services } from './services'
import { openSettings } from './settings-store'

/** Opens everything the handlers need. Needs no window and no Electron readiness, so it runs while Chromium starts. */
function openServices(paths: DataPaths, windows: () => AppWindows, shown: Promise<void>, onRecent: () => void): Services {
  const settings = openSettings(paths.settings)
  const { history, notice } = openHistory(paths.history)
  const emit = createEmit(windows)
  const remotes = new Remotes(paths.folder, { env: process.env, notice: (message) => emit('notice', { level: 'info', message }), onState: (name, devices) => emit('remotes:state', { name, devices: devices.map(({ name: _name, ...device }) => device) }) })
  const here = [nativeHostKind(), webgpuHostKind(shown), pythonHostKind(() => settings.get().python)]
  const runner = createRunner({ history, settings: () => settings.get(), hostKinds: () => [...here, ...remotes.kinds()] })
  const files = createFilesApart(paths.history, emit)
  const recent = new RecentFiles(paths.recent, onRecent)
  const faults = createFaults(paths.crashes, emit)
  const startNotices = [notice, settings.notice, remotes.store.notice].filter((text): text is string => text !== undefined)
  const openWindow = (link?: Link) => void windows().open(link && linkPath(link))
  return { history, runner, settings, remotes, fleet: fleetDesk({ history, folder: paths.folder, settings: () => settings.get(), emit }), dialogs: createDialogs(() => windows().current()), emit, openWindow, recent, baselines: new BaselineStore(paths.baselines), faults, files, opened: createOpenedFiles({ history, runner, emit, files, recent }), foundPrograms: new Set(), startNotices }
}

/** Starts the app with its visible window. A second start with the same data folder shows the first one's window. */
export function startApp(): void {
  const paths = openDataFolder()
  // Chromium's own files lie with ours, and the lock below is per such folder.
  app.setPath('userData', join(paths.folder, 'electron'))
  // At once: there is nothing open yet that would have to be closed.
  if (!app.requestSingleInstanceLock()) return app.exit(0)

  let markShown = () => {}
  const shown = new Promise<void>((resolve) => (markShown = resolve))
  const services = openServices(paths, () => windows, shown, installMenu)
  const leave = createLeave({
    runner: services.runner,
    ask: async (state) => {
      const { message, detail, buttons } = leaveQuestion(state)
      return buttons[await services.dialogs.choose({ message, detail, buttons: buttons.map(([, title]) => title) })]![0]
    },
    hide: () => windows.hide(),
    quit: () => app.quit(),
  })
  const windows = new AppWindows({
    open({ path, first }) {
      const window = openVisibleWindow({ stateFile: join(paths.folder, 'window.json'), path, other: first ? undefined : windows.current() })
      window.once('show', markShown)
      window.on('session-end', () => leave.force())
      return window
    },
    mayClose: () => leave.allowed(),
    // Hidden windows may measure for these; without them there is nobody to measure for.
    onLast: () => app.quit(),
  })
  nativeTheme.themeSource = services.settings.get().theme
  forwardRunnerEvents(services)
  offerRescue(services)
  registerRequests(createHandlers(services), windows)
  quitCleanly(services, leave)
  preventSleep(services.runner, powerSaveBlocker)
  // Nobody can answer a question when the machine or a terminal ends the app.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      leave.force()
      app.quit()
    })
  }
  surviveFaults(services.faults.report)
  watchProcesses(services.faults, services.runner)

  function show(path?: string): void {
    leave.stay()
    windows.show(path)
  }
  const links = createLinks({ ...services, show, hasWindow: () => windows.current() !== undefined })
  function installMenu(): void {
    if (app.isReady()) installAppMenu(services)
  }
  const notify = ({ title, body, click }: { title: string; body: string; click: () => void }) => {
    if (Notification.isSupported()) new Notification({ title, body }).on('click', click).show()
  }
  const attention = { isFocused: () => windows.isFocused(), notify, open: (link: Link) => links.open(link) }
  watchBaselines(services, alertOfBaselines(attention))
  giveRunFeedback({
    ...attention,
    runner: services.runner,
    summary: (id) => services.history.summary(id),
    setProgress: (share, paused) => windows.all().forEach((window) => window.setProgressBar(share ?? -1, { mode: paused ? 'paused' : 'normal' })),
  })

  const open = (paths: readonly string[]) => paths.length > 0 && void services.opened.add(paths)
  open(filesIn(process.argv))
  app.on('second-instance', (_event, argv, folder) => {
    const link = linkIn(argv)
    if (link) return links.open(link)
    show()
    open(filesIn(argv, folder))
  })
  // macOS hands over files and links by these events, also at the first start.
  app.on('open-file', (event, path) => {
    event.preventDefault()
    open([path])
  })
  app.on('open-url', (event, url) => {
    event.preventDefault()
    const link = readLink(url)
    if (link) links.open(link)
  })
  void app.whenReady().then(() => {
    // Known from here on; main tells nothing before.
    setNumberLocale(app.getSystemLocale())
    harden()
    registerLinks(app)
    if (process.platform !== 'win32') powerMonitor.on('shutdown', () => leave.force())
    if (process.platform !== 'linux') tellPowerSource(() => (powerMonitor.isOnBatteryPower() ? 'battery' : 'mains'))
    serveAppPages()
    installMenu()
    const link = linkIn(process.argv)
    if (link) links.open(link)
    else show()
    // The client of a fleet is loaded by those who have one.
    if (existsSync(join(paths.folder, 'fleet.json'))) void shown.then(async () => (await services.fleet()).collect())
  })
}

/** Says in a box why the app cannot start, and ends it. */
export function failToStart(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(printable(`opscope: ${message}\n`))
  dialog.showErrorBox('Opscope cannot start', message)
  app.exit(1)
}

/** Puts the menu bar up, with the files imported last. */
function installAppMenu({ emit, recent, history, opened }: Services): void {
  app.setAboutPanelOptions({ applicationName: 'Opscope', applicationVersion: app.getVersion(), copyright: 'MIT licence' })
  const files = recent.list()
  const openRecent = (index: number) => {
    const { path, sessionId } = files[index]!
    // The session that the file became, while it is there; else the file once more.
    if (history.listSessions({ search: '', deleted: false }).some(({ id }) => id === sessionId)) return emit('link:opened', { view: 'session', id: sessionId })
    if (!existsSync(path)) recent.remove(path)
    void opened.add([path])
  }
  const template = menuTemplate({ platform: process.platform, development: !app.isPackaged, send: (command) => emit('menu:command', { command }), recent: recentTitles(files), openRecent, clearRecent: () => recent.clear() })
  Menu.setApplicationMenu(Menu.buildFromTemplate(template))
}
