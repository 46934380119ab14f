import type { Result } from '../../result'
import type { Ceiling, SessionFile } from '../../session/types'
import { summarize } from '../../stats/summarize'
import { testCase, testDevice, testGpu, testResult, testSession } from '../../testing'
import { mix32 } from '../../values/random'
import { randomSession } from '../random-session'

const summaryAt = (medianNs: number): Result['summary'] => ({
  count: 4, medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01, madNs: medianNs / 100, p05Ns: medianNs * 0.98, p25Ns: medianNs * 0.99, p75Ns: medianNs * 1.02, p95Ns: medianNs * 1.04,
  minNs: medianNs * 0.98, maxNs: medianNs * 1.05, meanNs: medianNs * 1.0075, stddevNs: medianNs * 0.015, mildOutliers: 1, severeOutliers: 0,
})
const samplesAt = (medianNs: number) => [medianNs, medianNs * 0.98, medianNs, medianNs * 1.05]

/**
 * The session that the golden files under test/fixtures/formats show: two devices, every status, two implementations of
 * the same work, labels, texts that trip naive writers. Changing it changes every golden file.
 */
export function goldenSession(): SessionFile {
  const at = (id: string, impl: string, medianNs: number, change: Partial<Result> = {}) =>
    testResult({ id, case: testCase({ impl }), samplesNs: samplesAt(medianNs), summary: summaryAt(medianNs), deviceStates: [{ firstSample: 0, state: { temperatureC: 40 } }], ...change })
  const gpu = { device: 'cuda:0', backend: 'cuda', impl: 'kernel', threads: undefined }
  const none = { samplesNs: [], summary: undefined, verification: undefined, converged: undefined, stopReason: undefined, grade: undefined, gradeReasons: undefined, deviceStates: undefined, inner: undefined }
  const file = testSession([
    at('r1', 'scalar', 400),
    at('r2', 'avx2', 100, { clocksMhz: [3000, 3000, 2900, 2000], labels: [{ kind: 'slow-clock', reason: '2000 of 3000 MHz', first: 3, count: 1 }], grade: 'B', gradeReasons: ['3 of 4 samples are clean'] }),
    at('r3', 'avx2', 0.1 + 0.2, { case: testCase({ op: 'softmax', params: { rows: 64, cols: 4096, axis: 'last' }, dtype: 'bf16', threads: 4 }), bytes: 1048576, flops: 1310720 }),
    at('r4', 'kernel', 12_345.678, { case: testCase({ ...gpu, op: 'matmul', params: { m: 1024, n: 1024, k: 512 }, dtype: 'tf32', mode: 'cold' }), bytes: 8388608, flops: 1073741824, caseBytes: 8388608, deviceDeltaBytes: 16777216, run: 1, timer: 'cuda-event', notes: ['TF32 keeps ten bits of the mantissa.'] }),
    at('r5', 'kernel', 90, { case: testCase({ ...gpu }), status: 'wrong', message: 'output differs: ‖out − ref‖ / ‖ref‖ is 0.5', verification: { ...testResult().verification!, ok: false, relL2: 0.5, message: '500 of 1000 elements' }, grade: undefined }),
    testResult({ ...none, id: 'r6', case: testCase({ ...gpu, params: { n: 2 ** 30 } }), status: 'failed', message: '=HYPERLINK("x"), out of memory', detail: 'cudaErrorMemoryAllocation\nline two', errorCode: 'out-of-memory', measuredMs: 0 }),
    testResult({ ...none, id: 'r7', case: testCase({ op: 'sum', params: { n: 7, axis: '-all' } }), status: 'skipped', message: '@no kernel', measuredMs: 0, wallMs: 0 }),
    testResult({ ...none, id: 'r8', case: testCase({ mode: 'rotated' }), status: 'crashed', message: 'the process ended (SIGSEGV)', measuredMs: 0 }),
    testResult({ ...none, id: 'r9', case: testCase({ ...gpu, mode: 'graph' }), status: 'timeout', message: '+no answer within 60 s', measuredMs: 0 }),
  ], { name: 'Golden <session> & "friends"', notes: 'Line one\n=not a formula', tags: ['golden', 'a,b'], planned: 10, state: 'stopped' })
  file.environment.devices = [testDevice(), testGpu({ driver: '550.1', facts: [{ name: 'SM clock', value: '1980 MHz' }] })]
  return file
}

/** Measured limits of the golden session's CPU. */
export const goldenCeilings: readonly Ceiling[] = [
  { backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', kind: 'copy', value: 240e9, unit: 'bytes/s', measuredAt: '2026-01-01T00:00:00Z', result: testResult() },
  { backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', kind: 'flops:f32', value: 1e15, unit: 'FLOP/s', measuredAt: '2026-01-01T00:00:00Z', result: testResult() },
]

/**
 * A random session whose times a clock could give (a picosecond to 20 minutes per call), with statistics that fit its
 * samples: for formats that are read with bounds on times.
 */
export function plausibleSession(seed: number): SessionFile {
  let state = seed
  const time = () => 1e-3 * 10 ** (((state = mix32((state + 1) >>> 0)) / 2 ** 32) * 15)
  const file = randomSession(seed)
  for (const result of file.results) {
    result.samplesNs = result.samplesNs.map(time)
    delete result.labels
    delete result.stated
    if (result.summary) result.summary = summarize(result.samplesNs)
    result.bytes = Math.floor(time())
    result.flops = Math.floor(time())
    if (result.caseBytes !== undefined) result.caseBytes = Math.floor(time())
    if (result.libraryPeakBytes !== undefined) result.libraryPeakBytes = Math.floor(time())
    if (result.hostCallNs !== undefined) result.hostCallNs = time()
  }
  return file
}
