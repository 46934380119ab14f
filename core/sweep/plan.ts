import type { Device, Impl } from '../backend'
import { caseId, STORAGE_BYTES, type BenchmarkCase, type Dtype, type Mode, type Params } from '../case'
import { caseText } from '../case-words'
import { doesNotFit, tensorBytes } from '../measure/result/memory-advice'
import { MAX_EXTENT, tensorsOf } from '../ops/define'
import type { Op } from '../ops/types'
import { formatBytes } from '../units'
import { measuredParts } from './parts'
import { pickedOps } from './picked-ops'
import type { SweepSpec } from '../session/sweep-spec'

/** Cases that were asked for and cannot be measured, with the reason in plain words. `example` is the first of them. */
export interface Skipped {
  op: string
  backend: string
  device: string
  impl: string
  dtype: Dtype
  reason: string
  count: number
  example: string
}

/** What a sweep comes to before anything runs. `problems` are mistakes in the picks; cases they spoil are left out. */
export interface Plan {
  cases: BenchmarkCase[]
  skipped: Skipped[]
  problems: string[]
}

/** More cases than a session is made for; the history and the tables are tested up to here. */
export const MAX_CASES = 100_000

/** One way to compute on one device. */
interface DeviceImplementation {
  device: Device
  impl: Impl
  threads: number | undefined
}

/**
 * Turns the user's picks into cases, each once, in a fixed order: op, attributes, size, dtype and mode from the outside in, then
 * devices and implementations side by side so that what is compared is measured close together. Pure.
 */
export function planSweep(spec: SweepSpec, devices: readonly Device[]): Plan {
  const problems: string[] = []
  const picked = pickedOps(spec, problems)
  const { parts } = spec
  const ops = parts ? picked.flatMap((pick) => [pick, ...pick.params.flatMap((p) => measuredParts(pick.op, p, parts).map((part) => ({ ...pick, op: part.op, params: [part.params] })))]) : picked
  const lanes = pickedLanes(spec, devices, problems)
  if (spec.dtypes.length === 0) problems.push('no dtype is picked')
  if (spec.modes.length === 0) problems.push('no mode is picked')
  const dtypes = [...new Set(spec.dtypes)]
  const modes = [...new Set(spec.modes)]

  const total = ops.reduce((sum, { params, dtypes: own = dtypes }) => sum + params.length * own.length, 0) * modes.length * lanes.length
  if (total > MAX_CASES) return { cases: [], skipped: [], problems: [...problems, `${total} cases; at most ${MAX_CASES} go into one session: pick fewer operations or sizes`] }

  const cases = new Map<string, BenchmarkCase>()
  const skipped = new Map<string, Skipped>()
  for (const { op, params, dtypes: own = dtypes } of ops)
    for (const p of params)
      for (const dtype of own)
        for (const mode of modes)
          for (const lane of lanes) {
            const c = caseOf(op, p, dtype, mode, lane)
            const reason = whyNot(op, p, dtype, mode, lane)
            if (reason === undefined) cases.set(caseId(c), c)
            else skip(skipped, c, reason)
          }
  return { cases: [...cases.values()], skipped: [...skipped.values()], problems }
}

function caseOf(op: Op, params: Params, dtype: Dtype, mode: Mode, { device, impl, threads }: DeviceImplementation): BenchmarkCase {
  const c: BenchmarkCase = { op: op.id, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode }
  if (threads !== undefined) c.threads = threads
  return c
}

function skip(skipped: Map<string, Skipped>, c: BenchmarkCase, reason: string): void {
  const key = [c.op, c.backend, c.device, c.impl, c.dtype, reason].join('|')
  const known = skipped.get(key)
  if (known) known.count++
  else skipped.set(key, { op: c.op, backend: c.backend, device: c.device, impl: c.impl, dtype: c.dtype, reason, count: 1, example: caseText({ ...c, threads: undefined }, true) })
}

/** Why this case cannot be measured here, or undefined when it can. */
function whyNot(op: Op, params: Params, dtype: Dtype, mode: Mode, { device, impl, threads }: DeviceImplementation): string | undefined {
  if (!op.dtypes.includes(dtype)) return `${op.id} is not defined for ${dtype}`
  const kernels = impl.kernels[op.id]
  if (!kernels) return `${impl.title} has no kernel for ${op.id}`
  if (!kernels.includes(dtype)) return `${impl.title} has ${op.id} in ${kernels.join(', ')}, not in ${dtype}`
  if (!device.modes.includes(mode)) return `${device.name} cannot be measured in mode ${mode}, only ${device.modes.join(', ')}`
  if (threads !== undefined && !device.threads.includes(threads)) return `${device.name} runs with ${device.threads.join(', ')} threads, not ${threads}`
  const p = op.params.parse(params)
  const tensors = tensorsOf(op, p, dtype)
  if (tensors.some(({ elements }) => elements > MAX_EXTENT)) return `a tensor would have more than ${MAX_EXTENT} elements`
  const bytes = tensors.map(({ elements, storage }) => elements * STORAGE_BYTES[storage])
  const most = device.largerTensors?.ops.includes(op.id) ? device.largerTensors.bytes : device.maxTensorBytes
  if (most !== undefined && Math.max(...bytes) > most) return `a tensor takes ${formatBytes(Math.max(...bytes))}; ${device.name} allows ${formatBytes(most)}`
  if (tensorBytes(op, { params, dtype }) > device.memoryBytes) return doesNotFit(op, { params, dtype }, device.name, device.memoryBytes)
  return undefined
}

/** The picked implementations of the picked devices, with each thread count; all threads where none was picked. */
function pickedLanes(spec: SweepSpec, devices: readonly Device[], problems: string[]): DeviceImplementation[] {
  if (spec.targets.length === 0) problems.push('no device is picked')
  return spec.targets.flatMap((target) => {
    const device = devices.find((d) => d.backend === target.backend && d.id === target.device)
    if (!device) {
      problems.push(`there is no device ${target.device} of backend ${target.backend}; found ${devices.map((d) => d.id).join(', ') || 'none'}`)
      return []
    }
    if (!device.available.ok) {
      problems.push(`${device.name}: ${device.available.reason}`)
      return []
    }
    const threads = device.threads.length === 0 ? [undefined] : target.threads?.length ? target.threads : device.threads.slice(-1)
    return [...new Set(target.impls)].flatMap((id) => {
      const impl = device.impls.find((i) => i.id === id)
      if (!impl) problems.push(`${device.name} has no implementation "${id}"; expected one of ${device.impls.map((i) => i.id).join(', ')}`)
      else if (!impl.available.ok) problems.push(`${impl.title} on ${device.name}: ${impl.available.reason}`)
      else return threads.map((count) => ({ device, impl, threads: count }))
      return []
    })
  })
}
