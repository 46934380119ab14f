import type { Device, Impl } from '../backend'
import { DTYPE_BYTES, type BenchmarkCase, type Dtype, type Params } from '../case'
import { ALL_OPS } from '../ops/registry'
import type { Op } from '../ops/types'
import type { Result } from '../result'
import type { Ceiling } from '../session/types'

/** Elements of the copy that shows memory bandwidth: 512 MiB in and out, beyond every cache; less where the device is small. */
const COPY_ELEMENTS = [2 ** 26, 2 ** 25, 2 ** 24, 2 ** 22, 2 ** 20] as const
/** Emulated devices only need a figure for their own charts, and are slow. */
const SOFTWARE_COPY_ELEMENTS = [2 ** 22, 2 ** 20] as const

/** Work of one peak-rate call: long against a launch, short against a second, for each sort of device. */
function peakParams(op: Op, device: Device): Params {
  if (op.id === 'peak_mma') return device.software ? { n: 64, iterations: 16 } : { n: 2 ** 14, iterations: 1024 }
  if (device.software) return { n: 2 ** 14, iterations: 64 }
  return device.threads.length > 0 ? { n: 2 ** 16, iterations: 1024 } : { n: 2 ** 20, iterations: 1024 }
}

/** The implementation that stands for the device: the preferred one that has the kernel, else the last (fastest) listed. */
function bestImpl(device: Device, op: string, dtype: Dtype): Impl | undefined {
  const able = device.impls.filter((impl) => impl.available.ok && impl.kernels[op]?.includes(dtype))
  return able.find((impl) => impl.preferred) ?? able.at(-1)
}

function caseOf(device: Device, op: Op, params: Params, dtype: Dtype): BenchmarkCase | undefined {
  const impl = bestImpl(device, op.id, dtype)
  const mode = device.modes.includes('hot') ? 'hot' : device.modes[0]
  if (!impl || !mode) return undefined
  const c: BenchmarkCase = { op: op.id, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode }
  const threads = device.threads.at(-1)
  if (threads !== undefined) c.threads = threads
  return c
}

function copyCase(device: Device): BenchmarkCase | undefined {
  const op = ALL_OPS.find((o) => o.id === 'copy')
  const sizes = device.software ? SOFTWARE_COPY_ELEMENTS : COPY_ELEMENTS
  const n = sizes.find((elements) => 2 * elements * DTYPE_BYTES.f32 <= device.memoryBytes && elements * DTYPE_BYTES.f32 <= (device.maxTensorBytes ?? Infinity))
  return op && n ? caseOf(device, op, { n }, 'f32') : undefined
}

/**
 * The cases that measure a device's limits: a copy beyond the caches, and every `ceiling` op the device has a kernel for, in
 * each dtype, with all threads. Empty for a device that is not available.
 */
export function ceilingCases(device: Device): BenchmarkCase[] {
  if (!device.available.ok) return []
  const peaks = ALL_OPS.filter((op) => op.family === 'ceiling').flatMap((op) => op.dtypes.map((dtype) => caseOf(device, op, peakParams(op, device), dtype)))
  return [copyCase(device), ...peaks].filter((c): c is BenchmarkCase => c !== undefined)
}

/** What a result says about a device's limits; undefined unless it is right, measured, and of a ceiling case of this device. */
export function ceilingOf(device: Device, result: Result): Ceiling | undefined {
  const { case: c, summary } = result
  if (c.backend !== device.backend || c.device !== device.id || result.status !== 'ok' || !summary || !(summary.medianNs > 0)) return undefined
  const bandwidth = c.op === 'copy'
  if (!bandwidth && ALL_OPS.find((op) => op.id === c.op)?.family !== 'ceiling') return undefined
  return {
    backend: c.backend,
    device: c.device,
    deviceName: device.name,
    kind: bandwidth ? 'copy' : `flops:${c.dtype}`,
    value: ((bandwidth ? result.bytes : result.flops) / summary.medianNs) * 1e9,
    unit: bandwidth ? 'bytes/s' : 'FLOP/s',
    measuredAt: result.startedAt,
    result,
  }
}
