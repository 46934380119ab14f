import { afterAll, describe, expect, it } from 'vitest'
import type { Backend, Device } from '@core/backend'
import { ENGINES, type Engine } from '../e2e/chromium-webgpu/engines'
import { servePage } from '../e2e/chromium-webgpu/page'
import { remoteBackend } from '../e2e/chromium-webgpu/remote/backend'
import { checkDropoutMask, checkInputs, checkKernels, checkScatteredHalves, checkTies } from './harness'

type Opened = { backend: Backend; device: Device; close(): Promise<void> }

/** The first engine has the specification's smallest limits, and subgroups where its adapter has them; the second runs the kernels without subgroups. */
const QUERIES = ['?limits=default', '?subgroups=off'] as const

async function openBackend(engine: Engine, url: string): Promise<Opened> {
  const { page, close } = await engine.open()
  await page.goto(url)
  await page.waitForFunction(() => window.remoteCall !== undefined)
  const backend = remoteBackend(page)
  const [device] = await backend.devices()
  if (!device) throw new Error('the WebGPU backend lists no device')
  return { backend, device, close }
}

const served = await servePage('test/e2e/chromium-webgpu/remote/index.html')
const opened: Opened[] = []
afterAll(async () => {
  await Promise.all(opened.map((engine) => engine.close()))
  await served.close()
})

for (const [i, engine] of ENGINES.entries()) {
  if ('missing' in engine) {
    describe.skip(`${engine.name}: ${engine.missing}`, () => it('computes what the reference computes', () => undefined))
    continue
  }
  const { backend, device, close } = await openBackend(engine, served.url + QUERIES[i]!)
  opened.push({ backend, device, close })

  describe(engine.name, () => {
    it('offers a device with timestamps', () => {
      expect(device.available).toEqual({ ok: true })
      expect(device.facts.map((fact) => fact.name)).toContain('Timestamp period')
    })
    it('computes within the limits and features that it was opened with', () => {
      const fact = (name: string) => device.facts.find((one) => one.name === name)?.value
      if (i === 0) expect(fact('Workgroup memory')).toBe('16384 B')
      else expect(fact('Subgroups')).toBe('not used')
    })
    // Every size in the first engine; the next runs the same kernels and need only show that its engine takes them.
    checkKernels(backend, device, { verifyWork: 2e7, alike: ['wgsl-f16-emulated'], ...(i > 0 && !('missing' in ENGINES[0]!) ? { few: true, oddShapes: 1 } : {}) })
    checkInputs(backend, device, device.impls[0]?.kernels['copy'] ?? [])
    checkTies(backend, device)
    checkDropoutMask(backend, device, ['f32', 'f16'])
    if (i === 0) checkScatteredHalves(backend, device)
  })
}
