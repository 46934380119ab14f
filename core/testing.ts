import type { Device } from './backend'
import type { BenchmarkCase } from './case'
import type { Result } from './result'
import type { SessionFile } from './session/types'

/** Plain, valid records for tests; `change` overrides what a test is about. */
export function testDevice(change: Partial<Device> = {}): Device {
  const kernels = { copy: ['f32'], add: ['f32'], gelu: ['f32'], sum: ['f32'], softmax: ['f32'], layer_norm: ['f32'], matmul: ['f32'], fill: ['f32'], peak_fma: ['f32'] } satisfies Device['impls'][number]['kernels']
  return {
    backend: 'cpu', id: 'cpu', name: 'Test CPU', available: { ok: true },
    impls: [
      { id: 'scalar', title: 'Scalar', available: { ok: true }, kernels, preferred: false },
      { id: 'avx2', title: 'AVX2', available: { ok: true }, kernels, preferred: true },
    ],
    modes: ['cold', 'hot'], threads: [1, 2, 4], memoryBytes: 2 ** 33, software: false, facts: [], warnings: [],
    ...change,
  }
}

/** A GPU with f32, f16 and bf16 and no choice of threads. */
export function testGpu(change: Partial<Device> = {}): Device {
  const all = ['f32', 'f16', 'bf16'] as const
  const kernels = { copy: [...all], add: [...all], gelu: [...all], softmax: [...all], matmul: [...all, 'tf32' as const], peak_fma: ['f32' as const], peak_mma: ['f16' as const, 'bf16' as const] }
  return testDevice({ backend: 'cuda', id: 'cuda:0', name: 'Test GPU', impls: [{ id: 'kernel', title: 'Opscope kernel', available: { ok: true }, kernels, preferred: true }], modes: ['cold', 'hot', 'graph'], threads: [], ...change })
}

export const testCase = (change: Partial<BenchmarkCase> = {}): BenchmarkCase => ({
  op: 'add', params: { n: 1000 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', threads: 1, ...change,
})

/** A measured result of 100 ns per call. */
export function testResult(change: Partial<Result> = {}): Result {
  return {
    id: 'r1', case: testCase(), status: 'ok', startedAt: '2026-01-02T03:04:05.678Z', wallMs: 250, measuredMs: 100, bytes: 12_000, flops: 1000,
    samplesNs: [99, 100, 101.5], inner: 500, timer: 'steady-clock', tickNs: 1,
    summary: { count: 3, medianNs: 100, ciLowNs: 99, ciHighNs: 101.5, madNs: 1, p05Ns: 99.1, p95Ns: 101.35, minNs: 99, maxNs: 101.5, meanNs: 100.16666666666667, mildOutliers: 0, severeOutliers: 0 },
    verification: { ok: true, relL2: 2.5e-8, maxAbs: 1e-7, tolerance: 1e-6, checkedElements: 1000, totalElements: 1000, unwritten: 0, nonFinite: 0 },
    converged: true, stopReason: 'interval within ±2 %', grade: 'A', gradeReasons: [], caseBytes: 12_000, seed: 20260101,
    ...change,
  }
}

export function testSession(results: Result[] = [testResult()], change: Partial<SessionFile['session']> = {}): SessionFile {
  return {
    schemaVersion: 2,
    session: { id: 's1', name: 'First look', createdAt: '2026-01-02T03:04:05.000Z', notes: '', tags: [], state: 'done', planned: results.length, ...change },
    environment: { appVersion: '0.1.0', host: 'bench', os: 'Linux', kernel: '6.1', cpu: 'Test CPU', logicalCpus: 4, memoryBytes: 2 ** 34, node: '24.0.0', devices: [testDevice()] },
    results,
  }
}
