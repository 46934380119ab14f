import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BenchmarkCase, Mode } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import { describeEngines, startPageHost, type PageHost } from './host'

const settings = { ...PRESETS.quick, maxSeconds: 0.3 }

/** A library of the same interface that adds, whatever the model says. */
const ADDS = `
export const env = { wasm: {}, logLevel: '' }
export const Tensor = { fromGpuBuffer: (buffer) => ({ buffer, dispose() {} }) }
export const InferenceSession = {
  async create(_model, { executionProviders: [{ device }] }) {
    const code = \`@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { if (id.x < arrayLength(&out)) { out[id.x] = a[id.x] + b[id.x]; } }\`
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module: device.createShaderModule({ code }), entryPoint: 'main' } })
    return {
      async run({ x0, x1 }, { y }) {
        const entries = [x0, x1, y].map(({ buffer }, binding) => ({ binding, resource: { buffer } }))
        const encoder = device.createCommandEncoder()
        const pass = encoder.beginComputePass()
        pass.setPipeline(pipeline)
        pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }))
        pass.dispatchWorkgroups(Math.ceil(y.buffer.size / 256))
        pass.end()
        device.queue.submit([encoder.finish()])
      },
      async release() {},
    }
  },
}
`

const measured = (op: string, impl: string, mode: Mode): BenchmarkCase => ({ op, params: { n: 4099 }, dtype: 'f32', backend: 'webgpu', impl, device: 'webgpu:0', mode })

describeEngines('web libraries beside the app', (engine) => {
  let host: PageHost
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'opscope-web-'))
    const dist = join(folder, 'node_modules/onnxruntime-web/dist')
    mkdirSync(dist, { recursive: true })
    writeFileSync(join(dist, '../package.json'), '{"version":"9.9.9"}')
    writeFileSync(join(dist, 'ort.webgpu.min.mjs'), ADDS)
    host = await startPageHost(engine, { libraries: folder })
  })
  afterAll(async () => {
    await host.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are offered where they are installed, else with the command that installs them', async () => {
    const [device] = await host.devices()
    expect(device!.impls.find(({ id }) => id === 'onnxruntime-web')).toMatchObject({ title: 'ONNX Runtime Web 9.9.9', available: { ok: true }, preferred: false })
    expect(device!.impls.find(({ id }) => id === 'tfjs')).toMatchObject({ available: { ok: false, reason: expect.stringContaining(`npm install --prefix "${folder}" @tensorflow/tfjs-core`) } })
    expect(await host.measure(measured('add', 'tfjs', 'hot'), settings)).toMatchObject({ status: 'skipped', message: expect.stringContaining('npm install') })
  })

  it.each(['hot', 'cold'] as const)('are verified and timed by their kernels (%s), with the time of a call beside them', async (mode) => {
    const result = await host.measure(measured('add', 'onnxruntime-web', mode), settings)
    expect(result).toMatchObject({ status: 'ok', timer: 'timestamp-query', verification: { ok: true }, verificationAfter: { ok: true } })
    expect(result.hostCallNs).toBeGreaterThan(0)
    expect(result.notes?.join(' ')).toContain('One call through the library was recorded (1 dispatch)')
  })

  it('are refused where their results are wrong, and in a mode that they cannot have', async () => {
    expect(await host.measure(measured('mul', 'onnxruntime-web', 'hot'), settings)).toMatchObject({ status: 'wrong' })
    expect(await host.measure(measured('add', 'onnxruntime-web', 'rotated'), settings)).toMatchObject({ status: 'skipped', message: expect.stringContaining('one set of buffers') })
    expect((await host.measure(measured('add', 'wgsl', 'hot'), settings)).status).toBe('ok')
  })
})
