import { afterAll, beforeAll, expect, it } from 'vitest'
import { problemOf, type Backend, type Problem } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { fillRange } from '@core/values/random'
import { describeEngines } from './host'
import { servePage } from './page'
import { remoteBackend } from './remote/backend'

/** 4 MiB a tensor, 8 MiB a set: two sets are already more than the software adapter's assumed cache asks for. */
const LARGE = 2 ** 20
const copy = (n: number, mode: 'hot' | 'rotated' = 'rotated'): Problem => problemOf(getOp('copy'), { op: 'copy', params: { n }, dtype: 'f32', backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', mode }, 7)

describeEngines('rotated buffers in WebGPU', (engine) => {
  let backend: Backend
  let close = async () => {}
  beforeAll(async () => {
    const served = await servePage('test/e2e/chromium-webgpu/remote/index.html')
    const { page, close: closeEngine } = await engine.open()
    await page.goto(served.url)
    await page.waitForFunction(() => window.remoteCall !== undefined)
    backend = remoteBackend(page, served)
    close = async () => {
      await closeEngine()
      await served.close()
    }
  })
  afterAll(() => close())

  it('hold the same inputs in every set, also after they were made anew', async () => {
    const prepared = await backend.open(copy(LARGE))
    const sets = prepared.memory().caseBytes / (2 * 4 * LARGE)
    expect(sets).toBe(2)
    for (const seed of [7, 8]) {
      await prepared.refill(seed)
      for (let call = 0; call < sets; call++) {
        await prepared.poison()
        await prepared.run()
        expect(await prepared.read(0, 1000, 3)).toEqual(fillRange(seed, 0, { kind: 'normal', scale: 1 }, 'f32', 1000, 3))
      }
    }
    await prepared.dispose()
  })

  it('are counted as unwritten where a call has not come yet to a set it should have used', async () => {
    const prepared = await backend.open(copy(100_000))
    const sets = prepared.memory().caseBytes / (2 * 4 * 100_000)
    expect(sets).toBe(11)
    await prepared.poison()
    expect((await prepared.scan())[0]!.unwritten).toBe(100_000)
    await prepared.sample({ mode: 'rotated', count: 2, inner: 7 })
    expect((await prepared.scan())[0]!.unwritten).toBe(0)
    await prepared.dispose()
  })

  it('are refused where a cache would hold all of them', async () => {
    await expect(backend.open(copy(100))).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('256 are the most') })
  })

  it('belong to mode rotated only', async () => {
    const prepared = await backend.open(copy(LARGE, 'hot'))
    expect(prepared.memory().caseBytes).toBe(2 * 4 * LARGE)
    await prepared.dispose()
  })
})
