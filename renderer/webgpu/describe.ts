import type { Device } from '@core/backend'
import { isSoftware, memoryOf, nameOf, wordsOf } from './gpu/adapter'
import type { Gpu } from './gpu/gpu'
import { supportedKernels, type Implementation } from './kernels/registry'
import type { Clock } from './timing/clock'

export const DEVICE_ID = 'webgpu:0'

const base = { backend: 'webgpu', id: DEVICE_ID, modes: ['cold', 'hot', 'rotated'], threads: [] } satisfies Partial<Device>

const impls = (implementations: readonly Implementation[], available: Device['available'], shaderF16: boolean): Device['impls'] =>
  implementations.map(({ id, title, preferred, kernels }) => ({ id, title, available, kernels: supportedKernels(shaderF16, kernels), preferred }))

/** The entry that says why there is no WebGPU. */
export function unavailableDevice(reason: string, implementations: readonly Implementation[]): Device {
  const available = { ok: false, reason } as const
  return { ...base, name: 'WebGPU', available, impls: impls(implementations, available, false), memoryBytes: 0, software: false, facts: [], warnings: [] }
}

const ns = (value: number) => `${+value.toPrecision(4)} ns`

/** The device with its limits, features and the marks of its clock. */
export function describeDevice(gpu: Gpu, clock: Clock, implementations: readonly Implementation[]): Device {
  const words = wordsOf(gpu.adapter)
  const { limits, features } = gpu.device
  const memory = memoryOf(words, limits, gpu.software)
  const maxTensorBytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)
  const fact = (name: string, value: string | undefined) => (value ? [{ name, value }] : [])
  const warnings: string[] = []
  if (isSoftware(words)) warnings.push('This is a software adapter, which computes on the CPU: its figures say nothing about a GPU.')
  if (clock.quantized) warnings.push('Chromium rounds its timestamps to 65.536 µs here; short calls can only be measured many at a time. Start Opscope without own Chromium switches to lift this.')
  if (clock.timer === 'wall-clock') warnings.push('The adapter has no timestamp queries: times are taken with the page\'s clock and contain the way to the device and back.')
  return {
    ...base,
    modes: [...base.modes],
    threads: [],
    name: nameOf(words),
    available: { ok: true },
    impls: impls(implementations, { ok: true }, features.has('shader-f16')),
    memoryBytes: memory.bytes,
    maxTensorBytes,
    software: gpu.software,
    ...(words.driver ? { driver: words.driver } : {}),
    facts: [
      ...fact('Vendor', words.vendor),
      ...fact('Architecture', words.architecture),
      ...fact('Driver', words.driver),
      ...fact('API', words.backend),
      ...fact('Features', [...features].sort().join(', ')),
      ...fact('Memory size', memory.known ? undefined : 'estimated; the browser does not tell'),
      ...fact('Workgroup memory', `${limits.maxComputeWorkgroupStorageSize} B`),
      ...fact('Timestamp period', clock.timer === 'timestamp-query' ? ns(clock.tickNs) : undefined),
      ...fact('Cost of a compute pass', clock.passCostNs === undefined ? undefined : `${+(clock.passCostNs / 1000).toPrecision(3)} µs`),
      ...fact('Cache flush', `${clock.flushBytes / 2 ** 20} MiB written, as many others read`),
      ...fact('Browser', navigator.userAgent.match(/Chrome\/[\d.]+/)?.[0]),
    ],
    warnings,
  }
}
