import { join } from 'node:path'
import type { Backend, Device, PreparedCase } from '@core/backend'
import { problemOf } from '@core/backend'
import { STORAGE_BYTES, type BenchmarkCase, type Dtype, type Mode, type Params } from '@core/case'
import type { HostLink, RoundsPass } from '@core/measure/protocol'
import { serve } from '@core/measure/serve'
import type { MeasureSettings } from '@core/measure/settings'
import { tensorsOf } from '@core/ops/define'
import { getOp } from '@core/ops/registry'
import type { Result } from '@core/result'
import { electronBinary } from '../../../scripts/lib/electron.mjs'
import { nativeBackends } from '../../../main/backends/native'
import { spawnedWebgpuHostKind } from '../../../main/backends/webgpu/spawned'
import type { HostKind } from '../../../main/runner/types'
import { client, type Client } from './client'

/** A message to a host is answered within this, or the bench ends. */
const PATIENCE_MS = 300_000

/** The devices a proof is made on, driven by the product's own protocol, loop and backends; no session is kept. */
export interface Bed {
  /** Those of the wanted devices that are available, in the order wanted. */
  readonly devices: readonly Device[]
  /** The result of one case. Throws unless it is right: a proof on wrong results proves nothing. */
  measure(c: BenchmarkCase, settings: MeasureSettings, keep?: boolean): Promise<Result>
  /** A pass of rounds over the case and others: their results in order, without statistics. */
  pass(c: BenchmarkCase, settings: MeasureSettings, rounds: RoundsPass): Promise<[Result, ...Result[]]>
  /** The case as its backend prepares it, for procedures other than ours. Only devices of the addon. */
  open(c: BenchmarkCase, seed: number): Promise<PreparedCase>
  close(): void
}

/** The product's measurement host in this process: what the worker does, without the time messages take. */
function localLink(backends: readonly Backend[]): HostLink {
  let toHost: (message: unknown) => void = () => undefined
  let fromHost: (message: unknown) => void = () => undefined
  serve(backends, { send: (message) => fromHost(message), onMessage: (listener) => (toHost = listener) })
  return { send: (message) => toHost(message), onMessage: (listener) => (fromHost = listener), onExit: () => undefined, kill: () => undefined }
}

/** WebGPU in the Electron that OPSCOPE_ELECTRON names, or set-up fetched. Throws where there is none. */
export function webgpuKind(): HostKind {
  const named = process.env['OPSCOPE_ELECTRON']
  const found = named ? { path: named } : electronBinary()
  if ('reason' in found) throw new Error(found.reason)
  // Run through Vite there is no bundle to find the built app from.
  return spawnedWebgpuHostKind(found.path, join(process.cwd(), 'out'))
}

const webgpuClient = async (): Promise<Client> => client(await webgpuKind().start(), PATIENCE_MS)

/** Opens the devices `args.devices` names (`cpu` when absent), e.g. `cuda:0,webgpu:0`. Throws where one cannot be had. */
export async function openBed(args: Readonly<Record<string, string>>): Promise<Bed> {
  const wanted = (args['devices'] ?? 'cpu').split(',')
  const { backends, problem } = nativeBackends()
  if (problem !== undefined) throw new Error(problem)
  const native = client(localLink(backends), PATIENCE_MS)
  const webgpu = wanted.some((id) => id.startsWith('webgpu')) ? await webgpuClient() : undefined
  const clientOf = (backend: string) => (backend === 'webgpu' && webgpu ? webgpu : native)

  let nextId = 1
  const all: Device[] = []
  for (const asked of webgpu ? [native, webgpu] : [native]) {
    const reply = await asked.ask({ type: 'devices', id: nextId++ })
    if (reply.type === 'devices') all.push(...reply.devices)
  }
  const devices = wanted.map((id) => {
    const device = all.find((candidate) => candidate.id === id)
    if (!device) throw new Error(`there is no device ${id}; found ${all.map((candidate) => candidate.id).join(', ')}`)
    if (!device.available.ok) throw new Error(`${id}: ${device.available.reason}`)
    return device
  })
  return {
    devices,
    async measure(c, settings, keep = false) {
      const reply = await clientOf(c.backend).ask({ type: 'measure', id: nextId++, case: c, settings, resultId: 'proof', keep })
      if (reply.type === 'error') throw new Error(reply.message)
      if (reply.type !== 'result') throw new Error(`a measurement was answered with "${reply.type}"`)
      if (reply.result.status !== 'ok' || !reply.result.summary) throw new Error(`${describe(c)} is ${reply.result.status}: ${reply.result.message ?? ''} ${reply.result.detail ?? ''}`)
      return reply.result
    },
    async pass(c, settings, rounds) {
      const reply = await clientOf(c.backend).ask({ type: 'measure', id: nextId++, case: c, settings, resultId: 'proof', rounds })
      if (reply.type !== 'result' || !reply.others) throw new Error(`a pass of rounds was answered with "${reply.type}"${reply.type === 'error' ? `: ${reply.message}` : ''}`)
      const failed = [reply.result, ...reply.others].find(({ status }) => status !== 'ok')
      if (failed) throw new Error(`${describe(failed.case)} is ${failed.status}: ${failed.message ?? ''}`)
      return [reply.result, ...reply.others]
    },
    open(c, seed) {
      const backend = backends.find(({ id }) => id === c.backend)
      if (!backend) throw new Error(`${c.backend} runs in another process; its cases cannot be opened here`)
      return backend.open(problemOf(getOp(c.op), c, seed))
    },
    close: () => webgpu?.close(),
  }
}

/** `spin 1000 hot`. */
export const describe = (c: BenchmarkCase) => `${c.op} ${getOp(c.op).shapeLabel(getOp(c.op).params.parse(c.params))} ${c.mode}`

/** A device that computes much at once: sizes of a processor would keep it busy for a microsecond. */
export const isGpu = (device: Device): boolean => device.threads.length === 0 && !device.software

/**
 * A case of this op on this device with the implementation a user gets; undefined where the device has no kernel or mode
 * for it, allows no tensor that large, or has no room for two such cases, which pairs keep open.
 */
export function caseOn(device: Device, op: string, params: Params, mode: Mode, { dtype = 'f32', threads = device.threads.at(-1) }: { dtype?: Dtype; threads?: number } = {}): BenchmarkCase | undefined {
  const able = device.impls.filter((impl) => impl.available.ok && impl.kernels[op]?.includes(dtype))
  const impl = able.find((candidate) => candidate.preferred) ?? able.at(-1)
  if (!impl || !device.modes.includes(mode) || !fits(device, op, params, dtype)) return undefined
  return { op, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode, ...(threads === undefined ? {} : { threads }) }
}

function fits(device: Device, op: string, params: Params, dtype: Dtype): boolean {
  const tensors = tensorsOf(getOp(op), getOp(op).params.parse(params), dtype).map(({ elements, storage }) => elements * STORAGE_BYTES[storage])
  return Math.max(...tensors) <= (device.maxTensorBytes ?? Infinity) && tensors.reduce((a, b) => a + b, 0) <= device.memoryBytes / 2
}
