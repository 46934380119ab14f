import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fromHostSchema, type FromHost, type HostLink, type ToHost } from '@core/measure/protocol'
import { PRESETS } from '@core/measure/settings'
import { spawnedWebgpuHostKind } from '../../../main/backends/webgpu/spawned'
import { electronBinary } from '../../../scripts/lib/electron.mjs'

const binary = electronBinary()
const out = resolve(import.meta.dirname, '../../../out')
const missing = 'reason' in binary ? binary.reason : existsSync(resolve(out, 'main/index.js')) ? undefined : 'the app is not built'

/** Sends one request and waits for its last answer. */
function ask(link: HostLink, message: ToHost): Promise<FromHost> {
  return new Promise((done) => {
    link.onMessage((raw) => {
      const reply = fromHostSchema.parse(raw)
      if (reply.type !== 'progress') done(reply)
    })
    link.send(message)
  })
}

describe.skipIf(missing)(`WebGPU for the command line${missing ? ` (${missing})` : ''}`, () => {
  let link: HostLink
  let gone: Promise<string>
  beforeAll(async () => {
    if ('reason' in binary) return
    process.env['OPSCOPE_WEBGPU'] = 'software'
    link = await spawnedWebgpuHostKind(binary.path, out).start()
    gone = new Promise((done) => link.onExit(done))
  })
  afterAll(() => link.kill())

  it('measures a case in an Electron without a visible window', async () => {
    const devices = await ask(link, { type: 'devices', id: 1 })
    expect(devices).toMatchObject({ type: 'devices', devices: [{ backend: 'webgpu', software: true, available: { ok: true } }] })
    const measured = await ask(link, {
      type: 'measure', id: 2, resultId: 'r', settings: { ...PRESETS.quick, maxSeconds: 0.5 },
      case: { op: 'softmax', params: { rows: 17, cols: 129 }, dtype: 'f32', backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', mode: 'hot' },
    })
    expect(measured).toMatchObject({ type: 'result', result: { status: 'ok', timer: 'timestamp-query', verification: { ok: true, unwritten: 0 }, verificationAfter: { ok: true } } })
  })

  it('offers kernels that cheat only where the environment asks for them', async () => {
    const implsOf = async (host: HostLink) => {
      const reply = await ask(host, { type: 'devices', id: 9 })
      return reply.type === 'devices' ? reply.devices[0]?.impls.map((impl) => impl.id) : undefined
    }
    expect((await implsOf(link))?.filter((id) => id.startsWith('red-'))).toEqual([])
    if ('reason' in binary) return
    vi.stubEnv('OPSCOPE_RED_TEAM', '1')
    const other = await spawnedWebgpuHostKind(binary.path, out).start().finally(() => vi.unstubAllEnvs())
    expect(await implsOf(other)).toContain('red-noop')
    other.kill()
  })

  it('says why when a size does not fit, and goes on', async () => {
    const n = 2 ** 31
    const refused = await ask(link, { type: 'measure', id: 3, resultId: 'r', settings: PRESETS.quick, case: { op: 'copy', params: { n }, dtype: 'f32', backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', mode: 'cold' } })
    expect(refused).toMatchObject({ type: 'result', result: { status: 'skipped', message: expect.stringContaining(String(4 * n)) } })
    const next = await ask(link, { type: 'measure', id: 4, resultId: 'r', settings: { ...PRESETS.quick, maxSeconds: 0.5 }, case: { op: 'copy', params: { n: 1000 }, dtype: 'f32', backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', mode: 'cold' } })
    expect(next).toMatchObject({ type: 'result', result: { status: 'ok', inner: 1 } })
  })

  it('is gone after kill', async () => {
    link.kill()
    expect(await gone).toContain('SIGKILL')
  })
})
