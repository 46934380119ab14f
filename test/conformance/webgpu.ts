import { afterAll, describe, expect, it } from 'vitest'
import type { Backend, Device } from '@core/backend'
import { ENGINES, type Engine } from '../e2e/chromium-webgpu/engines'
import { servePage, type ServedPage } from '../e2e/chromium-webgpu/page'
import { remoteBackend } from '../e2e/chromium-webgpu/remote/backend'

/** Chromium, and the Electron of the app. */
export type EngineAt = 0 | 1

/** Work of a check (MeasureSettings.verifyWork). */
export const VERIFY_WORK = 2e7
/** Implementations that share their plans with another. */
export const ALIKE = ['wgsl-f16-emulated']

export interface Opened {
  backend: Backend
  device: Device
  /** Value of a fact of the device, by name. */
  fact(name: string): string | undefined
}

async function openBackend(engine: Engine, served: ServedPage, query: string): Promise<Opened & { close(): Promise<void> }> {
  const { page, close } = await engine.open()
  await page.goto(served.url + query)
  await page.waitForFunction(() => window.remoteCall !== undefined)
  const backend = remoteBackend(page, served)
  const [device] = await backend.devices()
  if (!device) throw new Error('the WebGPU backend lists no device')
  return { backend, device, fact: (name) => device.facts.find((one) => one.name === name)?.value, close }
}

/** Whether an engine is missing here. */
export const isMissing = (at: EngineAt): boolean => 'missing' in ENGINES[at]!

/**
 * Lists the tests of an engine, opened with the options of `query` (renderer/webgpu/backend.ts); none where it is missing. Engines have a file
 * each, and emulated f16 one of its own: as files they run at once.
 */
export async function describeEngine(at: EngineAt, query: string, check: (opened: Opened) => void): Promise<void> {
  const engine = ENGINES[at]!
  if ('missing' in engine) {
    describe.skip(`${engine.name}: ${engine.missing}`, () => it('computes what the reference computes', () => undefined))
    return
  }
  const served = await servePage('test/e2e/chromium-webgpu/remote/index.html')
  const { close, ...opened } = await openBackend(engine, served, query)
  afterAll(async () => {
    await close()
    await served.close()
  })
  describe(engine.name, () => {
    it('offers a device with timestamps', () => {
      expect(opened.device.available).toEqual({ ok: true })
      expect(opened.device.facts.map(({ name }) => name)).toContain('Timestamp period')
    })
    check(opened)
  })
}
