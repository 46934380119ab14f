import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { electronBinary } from '../../scripts/lib/electron.mjs'
import { sandboxSwitches } from '../../scripts/lib/display.mjs'

/** The folder of the app under test: this repository, or another build of it. */
export const APP_FOLDER = process.env['OPSCOPE_TEST_APP'] ?? resolve(import.meta.dirname, '../..')

/** Environment with which WebGPU has a device on any machine: Chromium's software adapter. */
export const SOFTWARE_GPU = { OPSCOPE_WEBGPU: 'software' } as const

export interface LaunchOptions {
  /** Data folder to use; a fresh one, removed by close(), when absent. */
  dataDir?: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
}

export interface Launched {
  app: ElectronApplication
  /** The visible window's page, loaded. */
  page: Page
  dataDir: string
  /** Everything the page wrote to its console as an error, and errors nobody caught. */
  pageErrors: string[]
  /** Quits the app. */
  close(): Promise<void>
  /** Ends the app's main process as a power cut would. */
  kill(): Promise<void>
}

const ENTRY = resolve(import.meta.dirname, 'entry.mjs')
const WINDOW_MS = 40_000
/** Longest that a step in the window may take; longer only delays what a broken step is told. */
const STEP_MS = 60_000

/**
 * Makes `app.evaluate` sure of its answer. Of a plain value, V8's inspector makes a promise that nothing holds: while Electron's main process
 * collects garbage the call fails ("Resulting promise was garbage collected"), although the function has run. A promise of ours is held instead.
 */
function holdResults(app: ElectronApplication): void {
  const evaluate = app.evaluate.bind(app) as (run: unknown, given: unknown) => Promise<unknown>
  const held = (electron: unknown, { source, arg }: { source: string; arg: unknown }) => {
    const results = ((globalThis as { evaluated?: unknown[] }).evaluated ??= [])
    const result = (async () => ((0, eval)(`(${source})`) as (electron: unknown, arg: unknown) => unknown)(electron, arg))()
    results.push(result)
    return result
  }
  app.evaluate = ((run: unknown, arg: unknown) => evaluate(held, { source: String(run), arg })) as typeof app.evaluate
}

/** Lets the app go on once this test is connected (see entry.mjs). */
async function release(app: ElectronApplication): Promise<void> {
  const attempt = () =>
    app.evaluate(() => {
      const go: unknown = Reflect.get(globalThis, 'releaseApp')
      if (typeof go === 'function') Reflect.apply(go, undefined, [])
      return typeof go === 'function'
    })
  while (!(await attempt())) await new Promise((done) => setTimeout(done, 20))
}

/** The window with the app's own page. Asked again and again: a window is reported before it has an address, and hidden windows that measure come and go. */
async function visibleWindow(app: ElectronApplication): Promise<Page> {
  for (const end = Date.now() + WINDOW_MS; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 30))) {
    const page = app.windows().find((candidate) => URL.canParse(candidate.url()) && new URL(candidate.url()).pathname === '/index.html')
    if (page) return page
  }
  throw new Error(`the window did not open within ${WINDOW_MS / 1000} s; there are: ${app.windows().map((page) => page.url()).join(', ') || 'none'}`)
}

/** Longest that starting and connecting may take before it is tried again, once. */
const CONNECT_MS = 50_000

interface Connected {
  app: ElectronApplication
  page: Page
  pageErrors: string[]
}

/** One start. The process is told to `onStarted`, so that a start which hangs can be ended. */
async function connect(electron: string, dataDir: string, options: LaunchOptions, onStarted: (app: ElectronApplication) => void): Promise<Connected> {
  const { ELECTRON_RUN_AS_NODE: _, ...inherited } = process.env
  const app = await _electron.launch({
    executablePath: electron,
    args: [...sandboxSwitches(), ENTRY, ...(options.args ?? [])],
    cwd: APP_FOLDER,
    // The page must see the app's own theme, not one that Playwright sets.
    colorScheme: null,
    // No emulated GPU, which would draw the window as well and so takes nearly half of a file's CPU time: tests of WebGPU ask for one (SOFTWARE_GPU).
    // No Python but what a test names. An empty list is written as a delimiter, because Electron hands no empty variable on to its processes.
    env: { ...inherited, OPSCOPE_DATA_DIR: dataDir, OPSCOPE_TEST_ENTRY_FOLDER: pathToFileURL(`${APP_FOLDER}/`).href, OPSCOPE_WEBGPU: 'hardware', OPSCOPE_PYTHON_ONLY: delimiter, ...options.env } as Record<string, string>,
  })
  onStarted(app)
  holdResults(app)
  app.context().setDefaultTimeout(STEP_MS)
  await release(app)
  const page = await visibleWindow(app)
  const pageErrors: string[] = []
  page.on('pageerror', (error) => pageErrors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') pageErrors.push(message.text())
  })
  await page.waitForLoadState('load')
  return { app, page, pageErrors }
}

/** Connecting to a new Electron can hang in the driver on a busy machine; such a start is ended and made once more. */
async function connectSoon(electron: string, dataDir: string, options: LaunchOptions): Promise<Connected> {
  for (let attempt = 1; ; attempt++) {
    let started: ElectronApplication | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), CONNECT_MS)))
    const connecting = connect(electron, dataDir, options, (app) => (started = app))
    const outcome = await Promise.race([connecting, late]).finally(() => clearTimeout(timer))
    if (outcome !== 'late') return outcome
    connecting.catch(() => undefined)
    started?.process().kill('SIGKILL')
    if (attempt === 2) throw new Error(`the test could not connect to the app within ${CONNECT_MS / 1000} s, twice`)
  }
}

/** Starts the built app in real Electron. Needs a display; `npm test` starts one. Throws with the reason when there is no Electron. */
export async function launch(options: LaunchOptions = {}): Promise<Launched> {
  const electron = electronBinary()
  if ('reason' in electron) throw new Error(electron.reason)
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'opscope-e2e-'))
  const { app, page, pageErrors } = await connectSoon(electron.path, dataDir, options)
  const gone = () => new Promise<void>((done) => {
    const child = app.process()
    if (child.exitCode !== null || child.signalCode !== null) done()
    else child.once('exit', () => done())
  })
  const discard = () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
  return {
    app,
    page,
    dataDir,
    pageErrors,
    async close() {
      // A run in progress is stopped; nobody is there to say so.
      await app.evaluate(({ dialog }) => void (dialog.showMessageBox = (() => Promise.resolve({ response: 0, checkboxChecked: false })) as typeof dialog.showMessageBox)).catch(() => undefined)
      await app.close()
      discard()
    },
    async kill() {
      const ended = gone()
      app.process().kill('SIGKILL')
      await ended
    },
  }
}
