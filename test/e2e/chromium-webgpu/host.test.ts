import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BenchmarkCase, Mode } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import { describeEngines, startPageHost, type PageHost } from './host'

const settings = { ...PRESETS.quick, maxSeconds: 0.5 }
const add = (mode: Mode): BenchmarkCase => ({ op: 'add', params: { n: 4099 }, dtype: 'f32', backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', mode })

describeEngines('the WebGPU measurement page', (engine) => {
  let host: PageHost
  beforeAll(async () => {
    host = await startPageHost(engine)
  })
  afterAll(() => host.close())

  it('says that a software adapter is one, and how its clock runs', async () => {
    const [device] = await host.devices()
    expect(device).toMatchObject({ id: 'webgpu:0', software: true, available: { ok: true }, modes: ['cold', 'hot', 'rotated'] })
    expect(device?.warnings.join(' ')).toContain('software adapter')
    expect(device?.warnings.join(' ')).not.toContain('65.536')
  })

  it('measures cold and hot, and checks the output before and after', async () => {
    for (const mode of ['cold', 'hot'] as const) {
      const result = await host.measure(add(mode), settings)
      expect(result).toMatchObject({ status: 'ok', timer: 'timestamp-query', verification: { ok: true }, verificationAfter: { ok: true } })
      expect(result.summary?.medianNs).toBeGreaterThan(0)
      // The second case has the pipelines of the first.
      expect((result.notes ?? []).some((note) => note.includes('compiled the pipelines'))).toBe(mode === 'cold')
    }
  })

  it('opens a new device for the next case after one was lost', async () => {
    await host.page.evaluate(() => window.opscopeDevices?.at(-1)?.destroy())
    expect(await host.measure(add('hot'), settings)).toMatchObject({ status: 'ok' })
    expect(await host.page.evaluate(() => window.opscopeDevices?.length)).toBe(2)
  })

  it('ends only the case during which the device is lost', async () => {
    const sampling = Promise.withResolvers<undefined>()
    const running = host.measure(add('hot'), { ...settings, relativeCi: 1e-9, maxSeconds: 20 }, () => sampling.resolve(undefined))
    await sampling.promise
    await host.page.evaluate(() => window.opscopeDevices?.at(-1)?.destroy())
    const result = await running
    // The browser's words for a loss by `destroy` from the page.
    expect(result).toMatchObject({ status: 'failed', message: expect.stringContaining('device was lost'), detail: expect.stringContaining('destroy') })
    expect(result.samplesNs).toEqual([])
    expect((await host.measure(add('hot'), settings)).status).toBe('ok')
  })

  it('ends only the case whose shader Chromium refuses, in its words', async () => {
    await host.page.evaluate(() => {
      const make = GPUDevice.prototype.createShaderModule
      GPUDevice.prototype.createShaderModule = function (descriptor) {
        GPUDevice.prototype.createShaderModule = make
        return make.call(this, { code: `${descriptor.code}\nfn broken( {` })
      }
    })
    expect(await host.measure({ ...add('hot'), op: 'sub' }, settings)).toMatchObject({ status: 'failed', detail: expect.stringContaining('expected') })
    expect((await host.measure({ ...add('hot'), op: 'sub' }, settings)).status).toBe('ok')
  })

  it('ends only the case whose command Chromium refuses, in its words', async () => {
    await host.page.evaluate(() => {
      const make = GPUDevice.prototype.createBindGroup
      GPUDevice.prototype.createBindGroup = function (descriptor) {
        GPUDevice.prototype.createBindGroup = make
        return make.call(this, { ...descriptor, entries: [...descriptor.entries].slice(1) })
      }
    })
    expect(await host.measure({ ...add('hot'), op: 'mul' }, settings)).toMatchObject({ status: 'failed', message: expect.stringContaining('WebGPU refused something'), detail: expect.stringMatching(/binding|entries/i) })
    expect((await host.measure({ ...add('hot'), op: 'mul' }, settings)).status).toBe('ok')
  })

  it('skips what it has no kernel for, with the reason', async () => {
    expect(await host.measure({ ...add('hot'), dtype: 'bf16' }, settings)).toMatchObject({ status: 'skipped', message: expect.stringContaining('bf16') })
  })
})

describeEngines('the page with the limits that the specification promises', (engine) => {
  it('refuses a larger tensor of most operations with its size and the limit, and uses no subgroups where they are switched off', async () => {
    const host = await startPageHost(engine, { query: '?limits=default&subgroups=off' })
    try {
      const [device] = await host.devices()
      expect(device).toMatchObject({ maxTensorBytes: 2 ** 27, facts: expect.arrayContaining([{ name: 'Subgroups', value: 'not used' }, { name: 'Workgroup memory', value: '16384 B' }]) })
      const large = await host.measure({ ...add('hot'), op: 'sum', params: { rows: 1, cols: 2 ** 25 + 1, axis: 'last' } }, settings)
      expect(large).toMatchObject({ status: 'skipped', message: expect.stringContaining(`needs ${4 * (2 ** 25 + 4)} bytes; this WebGPU device allows ${2 ** 27}`) })
    } finally {
      await host.close()
    }
  })

  it('takes larger tensors of element-wise operations in parts', async () => {
    const host = await startPageHost(engine, { query: '?binding=65552' })
    try {
      const [device] = await host.devices()
      expect(device).toMatchObject({ maxTensorBytes: 65552, largerTensors: { ops: expect.arrayContaining(['neg', 'fma']) } })
      for (const [op, n] of [['neg', 70_001], ['fma', 50_000]] as const) expect(await host.measure({ ...add('hot'), op, params: { n } }, settings)).toMatchObject({ status: 'ok', verification: { ok: true, checkedElements: n }, verificationAfter: { ok: true } })
      expect(await host.measure({ ...add('rotated'), params: { n: 70_001 } }, settings)).toMatchObject({ status: 'ok' })
    } finally {
      await host.close()
    }
  })
})
