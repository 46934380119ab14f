import type { Device } from '@core/backend'
import type { BenchmarkCase, Dtype } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { nativeHostKind, pythonHostKind } from '../../../main/measurement/host'
import type { HostKind } from '../../../main/runner/types'
import { webgpuKind } from './bed'
import { chromiumKind } from './chromium-kind'
import { client, type Client } from './client'

/** One implementation of a device, measured in the host of its backend. */
export interface HostSide {
  /** The implementation's id. */
  name: string
  device: Device
  impl: string
  /** Whatever came of the case. A host that ends or hangs is replaced for the next one, and this rejects. */
  measure(c: BenchmarkCase, settings: MeasureSettings): Promise<Result>
  close(): void
}

/** Whether a side has a kernel of an operation in a dtype. */
export const takes = ({ device, impl }: HostSide, { op, dtype }: { op: string; dtype: Dtype }): boolean => device.impls.find(({ id }) => id === impl)?.kernels[op]?.includes(dtype) === true

/** A case that takes longer than this has lost its host. */
const PATIENCE_MS = 30_000

/** Before the id of a device of WebGPU: in Debian's Chromium instead of the app's Electron. */
const IN_CHROMIUM = 'chromium:'

const KINDS: readonly { id: string; has: (device: string) => boolean; kind: () => HostKind }[] = [
  { id: 'chromium', has: (device) => device.startsWith(IN_CHROMIUM), kind: chromiumKind },
  { id: 'webgpu', has: (device) => device.startsWith('webgpu'), kind: webgpuKind },
  { id: 'python', has: (device) => device.startsWith('python'), kind: () => pythonHostKind(() => undefined) },
  { id: 'native', has: () => true, kind: () => nativeHostKind() },
]

/** A host that is started when it is asked, and again after it has ended. */
class Host {
  #client: Promise<Client> | undefined
  #next = 1
  devices: readonly Device[] = []

  constructor(private readonly kind: HostKind) {}

  async ask<T>(make: (id: number) => Parameters<Client['ask']>[0], read: (reply: Awaited<ReturnType<Client['ask']>>) => T): Promise<T> {
    this.#client ??= this.kind.start().then((link) => client(link, PATIENCE_MS))
    try {
      return read(await (await this.#client).ask(make(this.#next++)))
    } catch (error) {
      this.close()
      throw error
    }
  }

  async find(): Promise<readonly Device[]> {
    if (this.devices.length === 0) this.devices = await this.ask((id) => ({ type: 'devices', id }), (reply) => (reply.type === 'devices' ? reply.devices : []))
    return this.devices
  }

  close(): void {
    void this.#client?.then((one) => one.close()).catch(() => undefined)
    this.#client = undefined
  }
}

/** The sides that words such as `cuda:0/kernel` name, in order; one that cannot be had is told and left out. */
export async function openSides(words: readonly string[], say: (text: string) => void): Promise<HostSide[]> {
  const hosts = new Map<string, Host>()
  const found: HostSide[] = []
  for (const word of words) {
    const [id = '', impl = ''] = word.split('/')
    const known = KINDS.find(({ has }) => has(id))!
    const host = hosts.get(known.id) ?? new Host(known.kind())
    hosts.set(known.id, host)
    const devices = await host.find().catch((error: unknown) => (say(`${word}: ${error instanceof Error ? error.message : String(error)}`), []))
    const device = devices.find((one) => one.id === (known.id === 'chromium' ? id.slice(IN_CHROMIUM.length) : id))
    const has = device?.impls.find((one) => one.id === impl)
    const reason = !device ? `there is no such device; found ${devices.map((one) => one.id).join(', ')}` : !device.available.ok ? device.available.reason : !has ? 'there is no such implementation' : has.available.ok ? undefined : has.available.reason
    if (!device || reason !== undefined) {
      say(`${word}: ${reason}`)
      continue
    }
    found.push({
      name: impl,
      device,
      impl,
      measure: (c, settings) =>
        host.ask((asked) => ({ type: 'measure', id: asked, case: c, settings, resultId: 'side' }), (reply) => {
          if (reply.type !== 'result') throw new Error(reply.type === 'error' ? reply.message : `a measurement was answered with "${reply.type}"`)
          return reply.result
        }),
      close: () => host.close(),
    })
  }
  return found
}
