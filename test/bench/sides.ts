import type { Backend, Device, Impl } from '@core/backend'
import { loadAddon, type NativeAddon, type NativeSpec } from '../../main/backends/native/addon'
import { NativeBackend } from '../../main/backends/native/backend'
import { nativeBackends } from '../../main/backends/native'
import { pythonBackend } from '../../main/backends/python'

/** Who is timed: this build, and where asked for another build and implementations of the Python backend. */
export interface Side {
  name: string
  backend: Backend
  device: Device
  impl?: string
}

/**
 * The sides that the arguments of a bench name:
 *   devices=cuda:0               this build (the first device named)
 *   before=FILE                  an addon of another build
 *   beside=python:cuda:0/torch   implementations, separated by commas
 * Throws where one of them cannot be had.
 */
export async function sidesOf(args: Readonly<Record<string, string>>, usual: { devices: string; beside?: string }): Promise<Side[]> {
  const { backends, problem } = nativeBackends()
  if (problem !== undefined) throw new Error(problem)
  const wanted = args['devices'] ?? usual.devices
  const beside = (args['beside'] ?? usual.beside ?? '').split(',').filter((word) => word !== '')
  const all = [...backends, ...([wanted, ...beside].some((id) => id.startsWith('python:')) ? [pythonBackend()] : [])]
  const own = await findDevice(all, wanted)
  const found: Side[] = [{ name: 'now', ...own }]
  if (args['before'] !== undefined) {
    if (own.backend.id !== 'cuda' && own.backend.id !== 'cpu') throw new Error(`before= names an addon, which computes on cuda or cpu, not on ${own.device.id}`)
    const earlier = new NativeBackend(eitherForm(loadAddon(args['before'])), own.backend.id)
    found.push({ name: 'before', ...(await findDevice([earlier], own.device.id)) })
  }
  for (const word of beside) {
    const [id = '', impl = ''] = word.split('/')
    found.push({ name: impl, impl, ...(await findDevice(all, id)) })
  }
  return found
}

async function findDevice(backends: readonly Backend[], id: string): Promise<{ backend: Backend; device: Device }> {
  const known: string[] = []
  for (const backend of backends) {
    for (const device of await backend.devices()) {
      known.push(device.id)
      if (device.id !== id) continue
      if (!device.available.ok) throw new Error(`${id}: ${device.available.reason}`)
      return { backend, device }
    }
  }
  throw new Error(`there is no device ${id}; found ${known.join(', ')}`)
}

/** The implementation that a side computes with: the one it names, else the one that a user gets. */
export function implOf({ name, device, impl }: Side): Impl {
  const able = device.impls.filter(({ available }) => available.ok)
  const found = impl === undefined ? (able.find(({ preferred }) => preferred) ?? able.at(-1)) : able.find(({ id }) => id === impl)
  if (!found) throw new Error(`${name}: ${device.id} has no such implementation; it has ${able.map(({ id }) => id).join(', ') || 'none'}`)
  return found
}

/** An addon of a build in which a case had inputs and one output gets its description in that form as well. */
function eitherForm(addon: NativeAddon): NativeAddon {
  const described = (spec: NativeSpec) => {
    const inputs = spec.tensors.flatMap(({ elements, fill }) => (fill ? [{ ...fill, elements, positive: fill.kind === 1 }] : []))
    return { ...spec, inputs, outputElements: spec.tensors.find(({ role }) => role !== 'in')?.elements }
  }
  return { info: addon.info, devices: addon.devices, GpuWatch: addon.GpuWatch, Case: new Proxy(addon.Case, { construct: (made, [spec]: [NativeSpec]) => new made(described(spec)) }) }
}
