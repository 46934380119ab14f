import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasDisplay, sandboxSwitches, startXvfb } from '../../scripts/lib/display.mjs'
import { electronBinary } from '../../scripts/lib/electron.mjs'
import { connect, debuggingOrigin, targetsOf } from './proof/devtools'

/**
 * The built app (npm run build) as a bench sees it: started as a user starts it, watched over Chromium's own debugging
 * protocol. Playwright's launcher is not used here because it holds the app back until it has attached.
 */
export interface BenchApp {
  readonly pid: number
  /** When the process was started, in ms since the epoch. */
  readonly startedAt: number
  readonly dataDir: string
  /** Runs `expression` in the visible page, waiting for its promise; the value must be JSON. Throws what it throws. */
  evaluate<T>(expression: string): Promise<T>
  /** Turns the wheel at a place of the page, as the user's hand does. */
  wheel(x: number, y: number, deltaY: number): Promise<void>
  /** Presses and releases the left button at a place of the page. */
  click(x: number, y: number): Promise<void>
  send<T>(method: string, params?: object): Promise<T>
  close(): Promise<void>
}

const PATIENCE_MS = 60_000
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function display(): Promise<void> {
  if (!hasDisplay()) process.env['DISPLAY'] = (await startXvfb()).display
}

/** The debugging address of the visible page, as soon as there is one. */
async function visiblePage(origin: string, until: number): Promise<string> {
  for (;;) {
    const page = (await targetsOf(origin)).find(({ type, url }) => type === 'page' && new URL(url).pathname === '/index.html')
    if (page) return page.webSocketDebuggerUrl
    if (Date.now() > until) throw new Error('the app showed no window')
    await pause(20)
  }
}

/** Starts the app on this data folder (a fresh one, removed by close(), when absent) and resolves once its page can be asked. */
export async function startApp({ dataDir, env = {} }: { dataDir?: string; env?: Readonly<Record<string, string>> } = {}): Promise<BenchApp> {
  const electron = electronBinary()
  if ('reason' in electron) throw new Error(electron.reason)
  await display()
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'opscope-bench-'))
  const { ELECTRON_RUN_AS_NODE: _, ...inherited } = process.env
  const startedAt = Date.now()
  const child = spawn(electron.path, [...sandboxSwitches(), '--remote-debugging-port=0', join(import.meta.dirname, '../..')], {
    env: { ...inherited, OPSCOPE_DATA_DIR: folder, OPSCOPE_WEBGPU: 'software', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const origin = await debuggingOrigin(child)
  const page = await connect(await visiblePage(origin, startedAt + PATIENCE_MS))
  // There is a page before there is a document.
  while ((await page.send<{ result: { value?: boolean } }>('Runtime.evaluate', { expression: "location.pathname === '/index.html' && document.readyState !== 'loading'" }).catch(() => undefined))?.result.value !== true) await pause(20)
  const mouse = async (type: string, x: number, y: number, more: object): Promise<void> => {
    await page.send('Input.dispatchMouseEvent', { type, x, y, ...more })
  }
  return {
    pid: child.pid!,
    startedAt,
    dataDir: folder,
    send: page.send,
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = await page.send<{ result: { value: T }; exceptionDetails?: { exception?: { description?: string }; text: string } }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    },
    wheel: (x, y, deltaY) => mouse('mouseWheel', x, y, { deltaX: 0, deltaY }),
    async click(x, y) {
      await mouse('mousePressed', x, y, { button: 'left', clickCount: 1 })
      await mouse('mouseReleased', x, y, { button: 'left', clickCount: 1 })
    },
    async close() {
      page.close()
      child.kill()
      if (!(await Promise.race([exited.then(() => true), pause(8000)]))) child.kill('SIGKILL')
      await exited
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

/** Code of a page that resolves with `performance.now()` of the first frame in which `condition` holds. */
export const whenShown = (condition: string, patienceMs = 30_000) => `new Promise((resolve, reject) => {
  const from = performance.now()
  const look = () => {
    if (${condition}) return resolve(performance.now())
    if (performance.now() - from > ${patienceMs}) return reject(new Error('not within ${patienceMs} ms: ' + ${JSON.stringify(condition)}))
    requestAnimationFrame(look)
  }
  look()
})`

/** Middle of these numbers; the upper one of two. */
export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The value below which the share `p` of these numbers lies (nearest rank). */
export function quantile(values: readonly number[], p: number): number {
  const ascending = [...values].sort((a, b) => a - b)
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * p))] ?? NaN
}

/** Starts Electron with an empty window and nothing else, from process start to `ready-to-show` in ms: the floor of any start. */
export async function bareElectronMs(): Promise<number> {
  const electron = electronBinary()
  if ('reason' in electron) throw new Error(electron.reason)
  await display()
  const folder = mkdtempSync(join(tmpdir(), 'opscope-bare-'))
  writeFileSync(join(folder, 'package.json'), '{"main":"main.js"}')
  writeFileSync(join(folder, 'main.js'), "const { app, BrowserWindow } = require('electron'); app.setPath('userData', __dirname + '/data'); app.whenReady().then(() => { const w = new BrowserWindow({ show: false }); w.once('ready-to-show', () => { w.show(); process.stdout.write('at ' + Date.now() + ' '); app.exit(0) }); w.loadURL('data:text/html,<p>bare') })")
  const from = Date.now()
  const { ELECTRON_RUN_AS_NODE: _, ...inherited } = process.env
  const child = spawn(electron.path, [...sandboxSwitches(), folder], { env: inherited, stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  child.stdout.on('data', (chunk) => (text += String(chunk)))
  await new Promise((resolve) => child.once('close', resolve))
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  const at = /at (\d+)/.exec(text)?.[1]
  if (at === undefined) throw new Error(`a bare Electron showed no window: ${text}`)
  return Number(at) - from
}

interface ProcessMemory {
  /** Chromium's name of the process: browser, renderer, gpu-process, utility, zygote. */
  kind: string
  pid: number
  /** Bytes in memory; what n processes share counts 1/n in each. */
  bytes: number
  /** Bytes of its own. */
  privateBytes: number
}

/** The process and all below it, largest first; empty where there is no /proc. */
export function processesBelow(pid: number): ProcessMemory[] {
  const parents = new Map<number, number>()
  for (const name of existsSync('/proc/self/smaps_rollup') ? readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)) : []) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // It ended meanwhile.
    }
  }
  const isBelow = (child: number): boolean => child === pid || (child > 1 && isBelow(parents.get(child) ?? 0))
  return [...parents.keys()].filter(isBelow).flatMap((each): ProcessMemory[] => {
    try {
      const rollup = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8')
      const sum = (name: RegExp) => [...rollup.matchAll(name)].reduce((bytes, [, kib]) => bytes + Number(kib) * 1024, 0)
      const kind = /--type=([\w-]+)/.exec(readFileSync(`/proc/${each}/cmdline`, 'utf8'))?.[1] ?? 'browser'
      return [{ kind, pid: each, bytes: sum(/^Pss:\s+(\d+) kB/gm), privateBytes: sum(/^Private_\w+:\s+(\d+) kB/gm) }]
    } catch {
      return []
    }
  }).sort((a, b) => b.bytes - a.bytes)
}

/** Memory of its own (not shared with other processes) of the largest page process below `pid`, in bytes; undefined where /proc cannot tell. */
export function pageProcessBytes(pid: number): number | undefined {
  const sizes = processesBelow(pid).filter(({ kind }) => kind === 'renderer').map(({ privateBytes }) => privateBytes)
  return sizes.length > 0 ? Math.max(...sizes) : undefined
}
