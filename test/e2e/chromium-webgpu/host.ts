import type { Page } from 'playwright-core'
import { describe, it } from 'vitest'
import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { fromHostSchema, type FromHost, type ToHost } from '@core/measure/protocol'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { ENGINES, type Engine } from './engines'
import { servePage } from './page'

/** The measurement page in a plain Chromium or Electron, spoken to by the runner's protocol. */
export interface PageHost {
  page: Page
  devices(): Promise<Device[]>
  /** `onSampling` is called when samples are being taken. */
  measure(c: BenchmarkCase, settings: MeasureSettings, onSampling?: () => void): Promise<Result>
  close(): Promise<void>
}

declare global {
  interface Window {
    opscopeDeliver?: (message: unknown) => void
    opscopeReply?: (text: string) => Promise<void>
    /** Every device the page opened, so that a test can take one away. */
    opscopeDevices?: GPUDevice[]
  }
}

/** Starts an engine on the page with the software adapter, or with other switches; `query` is added to the page's address, `libraries` is what npm installed into. */
export async function startPageHost(engine: Engine, { switches, query = '', libraries }: { switches?: readonly string[]; query?: string; libraries?: string } = {}): Promise<PageHost> {
  const served = await servePage(undefined, libraries)
  const { page, close } = await engine.open(switches)
  const waiting = new Map<number, (message: FromHost) => void>()
  let sampling: (() => void) | undefined
  let ready = () => {}
  const isReady = new Promise<void>((done) => (ready = done))
  await page.exposeFunction('opscopeReply', (text: string) => {
    const message = fromHostSchema.parse(JSON.parse(text))
    if (message.type === 'ready') ready()
    else if (message.type === 'progress') {
      if (message.phase === 'sampling') sampling?.()
    } else waiting.get(message.id)?.(message)
  })
  await page.addInitScript(() => {
    const devices: GPUDevice[] = (window.opscopeDevices = [])
    const open = GPUAdapter.prototype.requestDevice
    GPUAdapter.prototype.requestDevice = async function (descriptor) {
      const device = await open.call(this, descriptor)
      devices.push(device)
      return device
    }
    window.opscopeHost = {
      send: (message) => void window.opscopeReply?.(JSON.stringify(message)),
      onMessage: (listener) => (window.opscopeDeliver = listener),
    }
  })
  await page.goto(served.url + query)
  await isReady

  let nextId = 1
  const ask = async <T extends FromHost['type']>(type: T, make: (id: number) => ToHost): Promise<Extract<FromHost, { type: T }>> => {
    const id = nextId++
    const answer = new Promise<FromHost>((done) => waiting.set(id, done))
    await page.evaluate((message) => window.opscopeDeliver?.(message), make(id))
    const message = await answer
    waiting.delete(id)
    if (message.type !== type) throw new Error(`expected ${type}, received ${JSON.stringify(message)}`)
    return message as Extract<FromHost, { type: T }>
  }
  return {
    page,
    devices: async () => (await ask('devices', (id) => ({ type: 'devices', id }))).devices,
    measure: async (c, settings, onSampling) => {
      sampling = onSampling
      return (await ask('result', (id) => ({ type: 'measure', id, case: c, settings, resultId: `r${id}` }))).result
    },
    async close() {
      await close()
      await served.close()
    },
  }
}

/** Describes tests of every engine; one that is missing is skipped, with the reason. */
export function describeEngines(title: string, tests: (engine: Engine) => void): void {
  for (const engine of ENGINES) {
    if ('missing' in engine) describe.skip(`${title} in ${engine.name} (${engine.missing})`, () => it('is tested', () => undefined))
    else describe(`${title} in ${engine.name}`, () => tests(engine))
  }
}
