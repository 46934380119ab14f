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
    backend: 'cuda', id: 'cuda:0', name: 'NVIDIA H200', available: yes, modes: ['cold', 'hot', 'graph'], threads: [], memoryBytes: 139 * GIB, software: false, warnings: [],
    impls: [{ id: 'kernel', title: 'CUDA kernels', available: yes, kernels: kernels(['f32', 'f16', 'bf16', 'tf32']), preferred: true }, { id: 'cublas', title: 'cuBLASLt', available: no('libcublasLt.so was not found. Install the CUDA libraries to compare with it.'), kernels: {}, preferred: false }],
    facts: [{ name: 'Driver', value: '570.86' }, { name: 'Compute capability', value: '9.0' }, { name: 'L2 cache', value: '50 MiB' }, { name: 'Memory clock', value: '3201 MHz' }],
  },
  {
    backend: 'webgpu', id: 'webgpu:0', name: 'NVIDIA H200', available: yes, modes: ['cold', 'hot'], threads: [], memoryBytes: 8 * GIB, maxTensorBytes: 2 * GIB, software: false, warnings: [],
    impls: [{ id: 'wgsl', title: 'WGSL kernels', available: yes, kernels: kernels(['f32', 'f16']), preferred: true }],
    facts: [{ name: 'Adapter', value: 'nvidia, hopper' }, { name: 'Timestamps', value: 'yes, tick 32 ns' }],
  },
  {
    backend: 'cpu', id: 'cpu', name: 'Intel Xeon Platinum 8481C', available: yes, modes: ['cold', 'hot'], threads: [1, 2, 4, 8, 16], memoryBytes: 96 * GIB, software: false,
    warnings: ['The clock governor is powersave, so the first calls of a case can be slow.'],
    impls: [
      { id: 'scalar', title: 'Scalar C++', available: yes, kernels: kernels(['f32', 'f16', 'bf16']), preferred: false }, { id: 'sse2', title: 'SSE2', available: yes, kernels: kernels(['f32'], ['matmul']), preferred: false },
      { id: 'avx2', title: 'AVX2 and FMA', available: yes, kernels: kernels(['f32', 'f16', 'bf16']), preferred: false }, { id: 'avx512', title: 'AVX-512', available: yes, kernels: kernels(['f32', 'f16', 'bf16']), preferred: true },
    ],
    facts: [{ name: 'Caches', value: 'L1 48 KiB, L2 2 MiB, L3 105 MiB' }, { name: 'Governor', value: 'powersave' }],
  },
  { backend: 'python', id: 'python', name: 'PyTorch', available: no('No Python with torch was found. Install PyTorch, or point Opscope at the interpreter that has it.'), modes: [], threads: [], memoryBytes: 0, software: false, warnings: [], impls: [], facts: [] },
]

export const mockEnvironment: Environment = {
  appVersion: '0.1.0', host: 'workbench', os: 'Debian GNU/Linux 12', kernel: 'Linux 6.1.0', cpu: 'Intel Xeon Platinum 8481C', logicalCpus: 16, memoryBytes: 128 * GIB,
  node: '24.21.0', electron: '45.4.1', chromium: '156.0.0.0', devices: mockDevices,
}

const ceiling = (backend: string, device: string, deviceName: string, kind: string, value: number): Ceiling => ({
  backend, device, deviceName, kind, value, unit: kind === 'copy' ? 'bytes/s' : 'FLOP/s', measuredAt: new Date(Date.now() - 7.2e6).toISOString(),
  result: mockResult({ op: 'copy', params: { n: 2 ** 26 }, dtype: 'f32', backend, impl: 'kernel', device, mode: 'hot' }, `ceiling-${backend}-${kind}`, 1),
})

export const mockCeilings: Ceiling[] = [
  ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'copy', 4.19e12), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:f32', 6.1e13), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:bf16', 7.6e14), ceiling('cuda', 'cuda:0', 'NVIDIA H200', 'flops:f16', 7.6e14),
  ceiling('webgpu', 'webgpu:0', 'NVIDIA H200', 'copy', 4.05e12), ceiling('webgpu', 'webgpu:0', 'NVIDIA H200', 'flops:f32', 5.4e13),
  ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'copy', 1.1e11), ceiling('cpu', 'cpu', 'Intel Xeon Platinum 8481C', 'flops:f32', 1.4e12),
]

export const mockNoiseFloors: NoiseFloor[] = [
  { backend: 'cuda', device: 'cuda:0', deviceName: 'NVIDIA H200', measuredAt: new Date(Date.now() - 3.6e6).toISOString(), pairs: 24, falseVerdicts: 0, ratioP50: 0.0011, ratioP95: 0.0042, sessionId: 'self-check' },
  { backend: 'cpu', device: 'cpu', deviceName: 'Intel Xeon Platinum 8481C', measuredAt: new Date(Date.now() - 3.6e6).toISOString(), pairs: 24, falseVerdicts: 1, ratioP50: 0.0065, ratioP95: 0.0212, sessionId: 'self-check' },
]
