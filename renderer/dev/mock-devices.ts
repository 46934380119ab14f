import type { Device } from '@core/backend'
import type { Dtype } from '@core/case'
import { OPS } from '@core/ops/registry'
import type { Ceiling, Environment, NoiseFloor } from '@core/session/types'
import { mockResult } from './mock-results'

const kernels = (dtypes: readonly Dtype[], without: readonly string[] = []) =>
  Object.fromEntries(OPS.filter((op) => !without.includes(op.id)).map((op) => [op.id, op.dtypes.filter((dtype) => dtypes.includes(dtype))]))
const yes = { ok: true as const }
const no = (reason: string) => ({ ok: false as const, reason })
const GIB = 2 ** 30

/** A machine as the app meets them: a GPU, its WebGPU adapter, a processor, and a backend that is missing. */
export const mockDevices: Device[] = [
  {
    backend: 'cuda', id: 'cuda:0', name: 'NVIDIA H200', available: yes, modes: ['cold', 'hot', 'rotated', 'graph'], threads: [], memoryBytes: 139 * GIB, software: false, warnings: [], driver: '570.86', caches: [{ name: 'L2', bytes: 50 * 2 ** 20 }],
    disturbances: ['python3 (12.4 GiB) computes on this GPU.'],
    impls: [{ id: 'kernel', title: 'CUDA kernels', available: yes, kernels: kernels(['f32', 'f16', 'bf16', 'tf32']), preferred: true }, { id: 'cublas', title: 'cuBLASLt', available: no('libcublasLt.so was not found. Install the CUDA libraries to compare with it.'), kernels: {}, preferred: false }],
    facts: [{ name: 'Driver', value: '570.86' }, { name: 'Compute capability', value: '9.0' }, { name: 'L2 cache', value: '50 MiB' }, { name: 'Memory clock', value: '3201 MHz' }],
  },
  {
    backend: 'webgpu', id: 'webgpu:0', name: 'NVIDIA H200', available: yes, modes: ['cold', 'hot', 'rotated'], driver: '570.86', threads: [], memoryBytes: 8 * GIB, maxTensorBytes: 2 * GIB, software: false, warnings: [],
    impls: [{ id: 'wgsl', title: 'WGSL kernels', available: yes, kernels: kernels(['f32', 'f16']), preferred: true }],
    facts: [{ name: 'Adapter', value: 'nvidia, hopper' }, { name: 'Timestamps', value: 'yes, tick 32 ns' }],
  },
  {
    backend: 'cpu', id: 'cpu', name: 'Intel Xeon Platinum 8481C', available: yes, modes: ['cold', 'hot', 'rotated'], caches: [{ name: 'L1d', bytes: 16 * 48 * 2 ** 10 }, { name: 'L2', bytes: 16 * 2 ** 21 }, { name: 'L3', bytes: 105 * 2 ** 20 }], threads: [1, 2, 4, 8, 16], memoryBytes: 96 * GIB, software: false,
    warnings: ['The clock governor is powersave, so the first calls of a case can be slow.'],
    impls: [
      { id: 'scalar', title: 'Scalar C++', available: yes, kernels: kernels(['f32', 'f16', 'bf16']), preferred: false }, { id: 'sse2', title: 'SSE2', available: yes, kernels: kernels(['f32'], ['matmul']), preferred: false },
      { id: 'avx2', title: 'AVX2 and FMA', available: yes, kernels: kernels(['f32', 'f16', 'bf16']), preferred: false }, { id: 'avx512', title: 'AVX-512', available: yes, kernels: kernels(['f32', 'f16', 'bf16']), preferred: true },
    ],
    facts: [{ name: 'Caches', value: 'L1 48 KiB, L2 2 MiB, L3 105 MiB' }, { name: 'Governor', value: 'powersave' }],
  },
  { backend: 'python', id: 'python', name: 'PyTorch', available: no('No Python with torch was found. Install PyTorch, or point Opscope at the interpreter that has it.'), modes: [], threads: [], memoryBytes: 0, software: false, warnings: [], impls: [], facts: [] },
]

/** Two Pythons: one with everything on both kinds of hardware, one found beside it. */
export const mockPythons: Device[] = [
  ...[mockDevices[0]!, mockDevices[2]!].map((native): Device => ({
    ...native, backend: 'python', id: `python:${native.id}`, sameHardwareAs: { backend: native.backend, id: native.id, name: native.name },
    impls: [...(native.id === 'cpu' ? ['numpy', 'torch'] : ['torch', 'torch.compile', 'triton'])].map((id) => ({ id, title: id === 'torch' ? 'PyTorch' : id, available: yes, kernels: kernels(['f32', 'bf16']), preferred: id === 'torch' })),
    interpreter: { path: '/opt/torch/bin/python', version: '3.12.3', source: 'virtual environment', packages: [{ name: 'numpy', version: '2.3.1' }, { name: 'torch', version: '2.11.0', detail: 'CUDA 13.0, 1 GPU' }, { name: 'triton', version: '3.6.0' }] },
  })),
  { ...mockDevices[3]!, id: 'python:cpu@usr', name: 'Python', available: no('found, not chosen'), interpreter: { path: '/usr/bin/python3', version: '3.11.2', source: 'system', packages: [{ name: 'numpy', version: '1.24.2' }, { name: 'torch', problem: 'not installed', install: 'apt-get install python3-torch' }] } },
]

const UNITS: Readonly<Record<string, Ceiling['unit']>> = { flops: 'FLOP/s', launch: 's' }
const IMPLS: Readonly<Record<string, string>> = { cuda: 'kernel', webgpu: 'wgsl', cpu: 'avx512' }

function ceiling(backend: string, device: string, deviceName: string, kind: string, value: number, driver = backend === 'cpu' ? undefined : '570.86'): Ceiling {
  const unit = UNITS[kind.split(':')[0]!] ?? 'bytes/s'
  const bytes = Number(/^copy:(\d+)$/.exec(kind)?.[1] ?? 2 ** 29)
  const result = mockResult({ op: 'copy', params: { n: bytes / 8 }, dtype: 'f32', backend, impl: IMPLS[backend] ?? 'kernel', device, mode: 'hot' }, `ceiling-${backend}-${kind}-ok`, 1)
  const medianNs = unit === 's' ? value * 1e9 : (bytes / value) * 1e9
  return {
    backend, device, deviceName, ...(driver === undefined ? {} : { driver }), kind, value, unit, measuredAt: new Date(Date.now() - 7.2e6).toISOString(),
    result: { ...result, status: 'ok', flops: bytes, summary: { count: 64, medianNs, ciLowNs: medianNs * 0.997, ciHighNs: medianNs * 1.003, madNs: medianNs * 0.002, p05Ns: medianNs * 0.99, p95Ns: medianNs * 1.02, minNs: medianNs * 0.98, maxNs: medianNs * 1.05, meanNs: medianNs, mildOutliers: 1, severeOutliers: 0 } },
  }
}

/** Copies from 32 KiB to 256 MiB: a launch, then the fastest cache that holds the working set. GB/s and ns. */
const curve = (backend: string, device: string, deviceName: string, launchNs: number, levels: readonly (readonly [bytes: number, gbps: number])[]): Ceiling[] =>
  Array.from({ length: 14 }, (_, i) => {
    const bytes = 2 ** (15 + i)
    const gbps = levels.find(([upTo]) => bytes <= upTo)?.[1] ?? levels.at(-1)![1]
    return ceiling(backend, device, deviceName, `copy:${bytes}`, (bytes / (launchNs + bytes / gbps)) * 1e9)
  })

export const mockCeilings: Ceiling[] = [
  ...curve('cuda', 'cuda:0', 'NVIDIA H200', 1200, [[2 ** 25, 9000], [2 ** 26, 6500], [2 ** 40, 4190]]), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'cache:L2', 5.9e12), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'launch:hot', 2.13e-6),
  ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'launch:graph', 1.21e-6), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'launch:cold', 2.9e-6), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:tf32', 3.9e14),
  ceiling('webgpu', 'webgpu:0', 'NVIDIA H200', 'launch:hot', 3.4e-6, '560.35'),
  ...curve('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 4100, [[2 ** 19, 900], [2 ** 24, 620], [2 ** 26, 310], [2 ** 40, 110]]), ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'cache:L1d', 6.1e10), ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'cache:L2', 5.2e11),
  ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'cache:L3', 3e11), ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'launch:hot', 4.1e-6), ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'launch:cold', 9.8e-6),
  ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'copy', 4.19e12), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'read', 4.4e12), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'write', 4.1e12), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:f32', 6.1e13), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:bf16', 7.6e14), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:f16', 7.6e14),
  ceiling('webgpu', 'webgpu:0', 'NVIDIA H200', 'copy', 4.05e12, '560.35'), ceiling('webgpu', 'webgpu:0', 'NVIDIA H200', 'flops:f32', 5.4e13, '560.35'),
  ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'copy', 1.1e11), ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'flops:f32', 1.4e12),
]

export const mockNoiseFloors: NoiseFloor[] = [
  { backend: 'cuda', device: 'cuda:0', deviceName: 'NVIDIA H200', driver: '570.86', measuredAt: new Date(Date.now() - 3.6e6).toISOString(), pairs: 24, falseVerdicts: 0, ratioP50: 0.0011, ratioP95: 0.0042, sessionId: 'self-check' },
  { backend: 'webgpu', device: 'webgpu:0', deviceName: 'NVIDIA H200', driver: '560.35', measuredAt: new Date(Date.now() - 9e8).toISOString(), pairs: 40, falseVerdicts: 1, ratioP50: 0.0027, ratioP95: 0.0114, sessionId: 'session-1' },
  { backend: 'cpu', device: 'cpu', deviceName: 'Intel Xeon Platinum 8481C', measuredAt: new Date(Date.now() - 3.6e6).toISOString(), pairs: 24, falseVerdicts: 1, ratioP50: 0.0065, ratioP95: 0.0212, sessionId: 'self-check' },
]

export const mockEnvironment: Environment = {
  appVersion: '0.1.0', host: 'workbench', os: 'Debian GNU/Linux 12', kernel: 'Linux 6.1.0', cpu: 'Intel Xeon Platinum 8481C', logicalCpus: 16, memoryBytes: 128 * GIB,
  node: '24.21.0', electron: '45.4.1', chromium: '156.0.0.0', devices: mockDevices,
  caches: [{ name: 'L1d', bytes: 48 * 2 ** 10, instances: 16 }, { name: 'L2', bytes: 2 ** 21, instances: 16 }, { name: 'L3', bytes: 105 * 2 ** 20, instances: 1 }],
  governor: 'powersave', boost: true, powerSource: 'mains', switches: ['--disable-dawn-features=timestamp_quantization', '--enable-features=Vulkan', 'CUDA_VISIBLE_DEVICES=0'], noiseFloors: mockNoiseFloors,
}
