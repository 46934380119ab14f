import { afterEach, expect, it } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import { describeEngines, startPageHost, type PageHost } from './host'

const settings = { ...PRESETS.quick, maxSeconds: 0.5 }
const add: BenchmarkCase = { op: 'add', params: { n: 4099 }, dtype: 'f32', backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', mode: 'hot' }

describeEngines('WebGPU without timestamps', (engine) => {
  let host: PageHost | undefined
  afterEach(async () => {
    await host?.close()
    host = undefined
  })

  it('is timed by the clock of the page, which is said with the result', async () => {
    host = await startPageHost(engine)
    await host.page.evaluate(() => void Object.defineProperty(GPUAdapter.prototype, 'features', { get: () => new Set<string>() }))
    const [device] = await host.devices()
    expect(device?.warnings.join(' ')).toContain('no timestamp queries')
    const result = await host.measure(add, settings)
    expect(result).toMatchObject({ status: 'ok', timer: 'wall-clock', notes: expect.arrayContaining([expect.stringContaining('no timestamp queries')]) })
    expect(['B', 'C']).toContain(result.grade)
  })
})
