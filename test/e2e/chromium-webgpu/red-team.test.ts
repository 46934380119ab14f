import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BenchmarkCase, Mode } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import { describeEngines, startPageHost, type PageHost } from './host'

const settings = { ...PRESETS.quick, maxSeconds: 0.3 }
const add = (impl: string, mode: Mode): BenchmarkCase => ({ op: 'add', params: { n: 100_003 }, dtype: 'f32', backend: 'webgpu', impl, device: 'webgpu:0', mode })

/** Each cheat, and what must be said about it. */
const CHEATS: Readonly<Record<string, RegExp>> = {
  'red-noop': /100,003 of 100,003 output elements were never written/,
  'red-half': /50,002 of 100,003 output elements were never written/,
  'red-stale': /After timing: The relative error is 1\.4/,
  'red-nan': /100,003 of 100,003 output elements are NaN or infinite/,
  'red-half-precision': /^The relative error is 1\.\d+e-3/,
}

describeEngines('WebGPU kernels that cheat', (engine) => {
  let host: PageHost
  beforeAll(async () => {
    host = await startPageHost(engine, { query: '?red-team' })
  })
  afterAll(() => host.close())

  it('are offered to be picked, never preferred, and all of them are tried here', async () => {
    const [device] = await host.devices()
    const cheats = device?.impls.filter((impl) => impl.id.startsWith('red-')) ?? []
    expect(cheats.map((impl) => impl.id)).toEqual(Object.keys(CHEATS))
    expect(cheats.some((impl) => impl.preferred)).toBe(false)
    expect((await host.measure(add('wgsl', 'hot'), settings)).status).toBe('ok')
  })

  for (const [impl, words] of Object.entries(CHEATS)) {
    for (const mode of ['hot', 'cold', 'rotated'] as const) {
      it(`${impl}, ${mode}, is found out`, async () => {
        const result = await host.measure(add(impl, mode), settings)
        expect(result.status).toBe('wrong')
        expect(result.message).toMatch(words)
        expect(result.grade).toBeUndefined()
      })
    }
  }
})
