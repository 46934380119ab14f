import type { BenchmarkCase } from '@core/case'
import { caseId } from '@core/case'
import { mix32 } from '@core/values/random'
import type { Grade, Result, Summary } from '@core/result'
import { getOp } from '@core/ops/registry'

function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    return mix32(state) / 2 ** 32
  }
}

const hash = (text: string) => [...text].reduce((h, letter) => (Math.imul(h, 31) + letter.charCodeAt(0)) >>> 0, 7)

/** Rates that make invented times look like a real machine's. bytes/ns, FLOP/ns, ns per call. */
const LANES: Readonly<Record<string, readonly [bytes: number, flops: number, call: number]>> = {
  'cuda/kernel': [3600, 32_000, 2100], 'webgpu/wgsl': [3400, 18_000, 4200], 'cpu/scalar': [7, 1.6, 60], 'cpu/sse2': [16, 9, 60], 'cpu/avx2': [42, 60, 65], 'cpu/avx512': [74, 210, 70],
  'python/numpy': [11, 90, 900], 'python/torch': [3700, 38_000, 2600], 'python/torch.compile': [3750, 38_000, 2400], 'python/triton': [3720, 30_000, 2500],
}

function summaryOf(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!
  const mean = samples.reduce((a, b) => a + b, 0) / samples.length
  const half = (at(0.75) - at(0.25)) / Math.sqrt(samples.length)
  return {
    count: samples.length, medianNs: at(0.5), ciLowNs: at(0.5) - half, ciHighNs: at(0.5) + half, madNs: (at(0.75) - at(0.25)) / 2, p05Ns: at(0.05), p25Ns: at(0.25), p75Ns: at(0.75), p95Ns: at(0.95),
    minNs: sorted[0]!, maxNs: sorted.at(-1)!, meanNs: mean, stddevNs: Math.sqrt(samples.reduce((a, b) => a + (b - mean) ** 2, 0) / samples.length), mildOutliers: 2, severeOutliers: 0,
  }
}

/** Clocks beside the samples of a GPU, some low, with samples to match; probes beside those of a CPU. */
function conditionsOf(c: BenchmarkCase, samplesNs: number[], random: () => number): Pick<Result, 'labels' | 'clocksMhz' | 'probesNs'> {
  if (c.backend === 'cpu') return { probesNs: samplesNs.map(() => 500 + Math.round(random() * 8)) }
  if (c.backend !== 'cuda') return {}
  const clocksMhz = samplesNs.map(() => 1965 + 15 * Math.floor(random() * 2))
  if (random() < 0.5) return { clocksMhz }
  const labels = [9, 10, 41].filter((i) => i < samplesNs.length).map((first) => ({ kind: 'slow-clock' as const, reason: '1320 of 1980 MHz', first, count: 1 }))
  for (const { first } of labels) {
    clocksMhz[first] = 1320
    samplesNs[first]! *= 1.03
  }
  return { clocksMhz, labels }
}

/** An invented, repeatable result of a case. `speed` scales the time. */
export function mockResult(c: BenchmarkCase, id: string, speed: number, samples = 64): Result {
  const op = getOp(c.op)
  const p = op.params.parse(c.params)
  const bytes = op.bytes(p, c.dtype)
  const flops = op.flops(p)
  const random = generator(hash(caseId(c) + id))
  const [bandwidth, rate, call] = LANES[`${c.backend}/${c.impl}`] ?? [10, 10, 1000]
  const half = c.dtype === 'f32' ? 1 : 2
  const time = (call + Math.max(bytes / bandwidth, flops / (rate * half)) * (0.9 + random() * 0.3)) * speed * (c.mode === 'cold' ? 1.15 : 1)
  const fate = random()
  const base: Result = { id, case: c, status: 'ok', startedAt: new Date().toISOString(), wallMs: 180 + random() * 400, measuredMs: 100, bytes, flops, samplesNs: [], seed: 20260101, caseBytes: bytes }
  if (fate > 0.985) return { ...base, status: 'failed', message: 'The device ran out of memory: the case needs more than is free. Close other programs or choose smaller sizes.', detail: 'CUDA_ERROR_OUT_OF_MEMORY (2) at cuMemAlloc' }
  const verification = { ok: fate <= 0.97, relL2: fate > 0.97 ? 0.031 : 3e-7 * (1 + random()), maxAbs: 4e-6, tolerance: 1e-6, checkedElements: 65_536, totalElements: 16_777_216, unwritten: 0, nonFinite: 0, ...(fate > 0.97 ? { message: 'The largest relative error is 0.031, 31,000 times what is allowed.' } : {}) }
  if (!verification.ok) return { ...base, status: 'wrong', verification, message: verification.message }
  const noise = 0.004 + 0.03 * random() ** 6
  const samplesNs = Array.from({ length: samples }, () => time * (1 + noise * (random() + random() + random() - 1.2) + (random() > 0.97 ? noise * 6 : 0)))
  const conditions = conditionsOf(c, samplesNs, random)
  const grade: Grade = conditions.labels ? 'B' : noise > 0.02 ? 'C' : noise > 0.009 ? 'B' : 'A'
  return {
    ...base, samplesNs, summary: summaryOf(samplesNs), verification, verificationAfter: verification, inner: 8, timer: c.backend === 'cpu' ? 'steady-clock' : 'cuda-event', tickNs: c.backend === 'cpu' ? 1 : 32,
    converged: grade !== 'C', stopReason: grade === 'C' ? 'gave up after 15 s' : 'interval within ±0.5 %', grade, ...conditions, gradeReasons: grade === 'A' ? [] : conditions.labels ? [`${conditions.labels.length} of ${samples} samples set aside: clock low (1320 of 1980 MHz) in ${conditions.labels.length} of ${samples}.`] : [grade === 'B' ? 'Samples vary by more than 1 %' : 'The interval did not narrow to ±0.5 % in 15 s'],
    notes: c.backend === 'webgpu' ? ['Timed with timestamp queries'] : undefined, deviceDeltaBytes: bytes * 1.02,
    deviceStates: c.backend === 'cuda' ? [{ firstSample: 0, state: { smClockMhz: 1980, memClockMhz: 3201, temperatureC: 41, powerW: 312 } }, { firstSample: 32, state: { smClockMhz: 1965, memClockMhz: 3201, temperatureC: 44, powerW: 335 } }] : undefined,
  }
}
