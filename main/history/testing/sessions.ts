import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import type { Result } from '@core/result'
import type { Environment } from '@core/session/types'
import { summarize } from '@core/stats/summarize'

/** Invented sessions and results for tests and benches of the history. */

const device: Device = {
  backend: 'cpu', id: 'cpu', name: 'Test CPU 9000', available: { ok: true }, impls: [], modes: ['hot'], threads: [1], memoryBytes: 1e9, software: false, facts: [{ name: 'L2', value: '1 MiB' }], warnings: [],
}

export const testEnvironment: Environment = { appVersion: '1.2.3', host: 'bench', os: 'Linux', kernel: '6.1', cpu: 'Test CPU', logicalCpus: 4, memoryBytes: 8e9, node: '24.0.0', devices: [device] }

export const testSettings = PRESETS.quick

export const testCase = (n: number, op = 'add'): BenchmarkCase => ({ op, params: { n }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', threads: 1 })

/** A result with `samples` samples whose digits use the whole mantissa. */
export function testResult(id: string, c: BenchmarkCase, samples = 16): Result {
  const samplesNs = Array.from({ length: samples }, (_, i) => 1000 + Math.sin(i + c.op.length + id.length) / 3)
  const verification = { ok: true, relL2: 1 / 3e7, tolerance: 1e-6, checkedElements: 10, totalElements: 10, unwritten: 0, nonFinite: 0 }
  const result: Result = {
    id, case: c, status: 'ok', startedAt: '2026-02-03T04:05:06.789Z', wallMs: 12.5, measuredMs: 1 / 7, bytes: 12e3, flops: 1e3, samplesNs, inner: 7, timer: 'steady-clock', tickNs: 0.1 + 0.2,
    verification, verificationAfter: verification, converged: true, stopReason: 'interval within ±2 %', grade: 'B', gradeReasons: ['Noisy.'], notes: ['a note'],
    deviceStates: [{ firstSample: 0, state: { smClockMhz: 1980, temperatureC: 41.5, throttle: [] } }], caseBytes: 12e3, seed: 20260101,
  }
  const summary = summarize(samplesNs)
  if (summary) result.summary = summary
  return result
}

export const failedResult = (id: string, c: BenchmarkCase): Result => ({
  id, case: c, status: 'failed', message: 'Out of memory: <b>8 GiB</b> asked', detail: 'cuMemAlloc: 2', startedAt: '2026-02-03T04:05:06.789Z', wallMs: 1, measuredMs: 0, bytes: 1, flops: 1, samplesNs: [], seed: 1,
})
