import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backendsOf } from '@core/backends'
import { APP_ORIGIN, MEASURING_HEADERS, servePageFile } from '../../../main/app/page-files'
import { pageQuery } from '../../../main/backends/webgpu/page-query'
import { switchesHere } from '../../../main/backends/webgpu/switches'
import { exitReason } from '../../../main/measurement/child-process'
import { connect as connectHost, type HostProcess } from '../../../main/measurement/link'
import type { HostKind } from '../../../main/runner/types'
import { chromiumPath, NO_CHROMIUM } from '../../e2e/chromium-webgpu/chromium-path'
import { connect, debuggingOrigin, targetsOf } from './devtools'

const READY_MS = 60_000

/** What the page finds in place of the app's preload script: a port by way of the debugging protocol. */
const PORT = `window.opscopeHost = { send: (message) => opscopeSend(JSON.stringify(message)), onMessage: (listener) => (window.opscopeHear = listener) }`

/** The built pages of the app (npm run build), on a port of this machine. */
async function servePages(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    void servePageFile(folder, { url: `${APP_ORIGIN}${request.url ?? '/'}`, method: request.method ?? 'GET' }, MEASURING_HEADERS).then(async (answer) => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

async function startChromium(chromium: string): Promise<HostProcess> {
  const server = await servePages(join(process.cwd(), 'out', 'renderer'))
  const folder = mkdtempSync(join(tmpdir(), 'opscope-chromium-'))
  const switches = switchesHere().map(({ name, value }) => (value === undefined ? `--${name}` : `--${name}=${value}`))
  const more = process.env['OPSCOPE_CHROMIUM_SWITCHES']?.split(' ').filter(Boolean) ?? []
  const child = spawn(chromium, [`--user-data-dir=${folder}`, '--remote-debugging-port=0', '--no-first-run', '--disable-crash-reporter', ...switches, ...more, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(exitReason(code, signal))))
  void exited.then(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })
  const origin = await debuggingOrigin(child)
  const target = (await targetsOf(origin)).find(({ type }) => type === 'page')
  if (!target) throw new Error('Chromium opened no page')
  const page = await connect(target.webSocketDebuggerUrl)
  const heard: unknown[] = []
  let hear = (message: unknown): void => void heard.push(message)
  page.onEvent('Runtime.bindingCalled', (params) => hear(JSON.parse((params as { payload: string }).payload)))
  await page.send('Runtime.enable')
  await page.send('Page.enable')
  await page.send('Runtime.addBinding', { name: 'opscopeSend' })
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: PORT })
  await page.send('Page.navigate', { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webgpu/index.html${pageQuery()}` })
  return {
    post: (message) => void page.send('Runtime.evaluate', { expression: `opscopeHear(${JSON.stringify(message)})` }).catch(() => undefined),
    kill: () => void child.kill('SIGKILL'),
    onMessage: (listener) => {
      hear = listener
      for (const message of heard.splice(0)) listener(message)
    },
    onStderr: () => undefined,
    onExit: (listener) => void exited.then(listener),
  }
}

/**
 * WebGPU in Debian's Chromium instead of the app's Electron: the same page of the built app. OPSCOPE_CHROMIUM names another one, OPSCOPE_CHROMIUM_SWITCHES
 * adds switches to those that the app starts with, `--no-sandbox` for root among them. Throws where there is none.
 */
export function chromiumKind(): HostKind {
  const chromium = chromiumPath()
  if (chromium === undefined) throw new Error(NO_CHROMIUM)
  return { id: 'chromium', backends: backendsOf('webgpu'), start: async () => connectHost(await startChromium(chromium), READY_MS) }
}
