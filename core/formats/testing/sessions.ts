import { DTYPES, MODES } from '../../case'
import { cleanSamples } from '../../measure/result/labels'
import { STATUSES, type Result } from '../../result'
import type { Ceiling, SessionFile } from '../../session/types'
import { summarize } from '../../stats/summarize'
import { testCase, testDevice, testGpu, testResult, testSession } from '../../testing'
import { mix32 } from '../../values/random'
import { finite } from '../shared/contradictions'

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

const energyAt = (joulesPerCall: number, idleWatts: number | undefined): Result['energy'] => ({
  joulesPerCall, lowJ: joulesPerCall * 0.99, highJ: joulesPerCall * 1.01, windows: 5, seconds: 10.5, calls: 49745, watts: 690.2, source: 'NVML total energy', ...(idleWatts === undefined ? {} : { idleWatts, sampledJoulesPerCall: joulesPerCall * 1.001 }),
})

/** Texts that trip naive writers: quotes, control characters, formulas, markup, surrogate pairs, separators. */
const TEXTS = ['', 'plain', '=1+1', '-2', '@x', '"quoted"', 'a,b', 'two\nlines', '<script>alert(1)</script>', '&amp;', 'ünï\u2028code', '🜁', '\u0000\u001f', "it's", '\\', '__proto__'] as const

/** Whole-range numbers: random bits of an f64 without sign, or a plain figure. */
function numbers(seed: number) {
  let state = seed
  const bits = () => (state = mix32((state + 0x9e3779b9) >>> 0))
  const view = new DataView(new ArrayBuffer(8))
  const anyDouble = (): number => {
    view.setUint32(0, bits() & 0x7fffffff)
    view.setUint32(4, bits())
    const value = view.getFloat64(0)
    return Number.isFinite(value) ? value : 0.1
  }
  const below = (n: number) => bits() % n
  return { anyDouble, below, pick: <T>(list: readonly T[]): T => list[below(list.length)]!, maybe: <T>(make: () => T): T | undefined => (below(2) ? make() : undefined) }
}

/** A valid session that depends on the seed alone and uses every optional field now and then. For tests. */
export function randomSession(seed: number): SessionFile {
  const { anyDouble, below, pick, maybe } = numbers(seed)
  const results = Array.from({ length: below(6) }, (_, i): Result => {
    const drawn = pick(STATUSES)
    const samplesNs = Array.from({ length: 1 + below(8) }, anyDouble)
    const labels = maybe(() => [{ kind: pick(['throttled', 'slow-clock', 'host-slowed', 'disturbed'] as const), reason: pick(TEXTS), first: below(3), count: 1 + below(3) }])
    // Importers hold a summary to its samples.
    const summary = finite(summarize(cleanSamples({ samplesNs, labels })))
    // Numbers beyond the range of an f64 have no statistics, which a measured result needs.
    const status = drawn === 'ok' && !summary ? 'failed' : drawn
    return testResult({
      id: `r${i}`,
      status,
      case: testCase({ op: pick(['add', 'sum', 'an op of tomorrow']), params: { n: 1 + below(2 ** 30), axis: pick(TEXTS), flag: below(2) === 1, ratio: anyDouble() }, dtype: pick(DTYPES), mode: pick(MODES), threads: maybe(() => 1 + below(64)) }),
      message: maybe(() => pick(TEXTS)),
      detail: maybe(() => pick(TEXTS)),
      samplesNs,
      wallMs: anyDouble(),
      bytes: anyDouble(),
      flops: anyDouble(),
      summary: status === 'ok' ? summary : maybe(() => summary!),
      verification: maybe(() => ({ ...testResult().verification!, relL2: maybe(anyDouble), message: maybe(() => pick(TEXTS)) })),
      notes: maybe(() => [pick(TEXTS)]),
      stated: maybe(() => ({ gpu_efficiency: -anyDouble() })),
      deviceStates: maybe(() => [{ firstSample: 0, state: { smClockMhz: maybe(anyDouble), throttle: maybe(() => [pick(TEXTS)]) } }]),
      deviceDeltaBytes: maybe(() => -anyDouble()),
      libraryPeakBytes: maybe(anyDouble),
      hostCallNs: maybe(anyDouble),
      counters: maybe(() => ({ instructions: below(1e9), cycles: maybe(anyDouble), l1Reads: below(1e6), reason: maybe(() => pick(TEXTS)) })),
      launches: maybe(() => [{ kernel: pick(TEXTS), grid: [1 + below(9), 1, 1], threads: 32, registers: maybe(() => below(255)), occupancy: maybe(() => below(101) / 100), waves: maybe(anyDouble) }]),
      clocksMhz: maybe(() => samplesNs.map(anyDouble)),
      probesNs: maybe(() => samplesNs.map(anyDouble)),
      labels,
      run: maybe(() => below(5)),
      block: maybe(() => ({ pair: pick(TEXTS), quad: below(30), place: below(4) })),
      ...((seed + i) % 3 === 0 ? { energy: energyAt((1 + i + seed) / 1e7, (seed + i) % 2 ? 75 : undefined) } : {}),
    })
  })
  const about = maybe(() => ({ kind: pick(['ceilings', 'interleaved', 'self-check'] as const), session: maybe(() => `s${below(9)}.a:b-c_d`) }))
  const file = testSession(results, { name: pick(TEXTS), notes: pick(TEXTS), tags: [pick(TEXTS), pick(TEXTS)], about })
  const floor = () => ({ backend: 'cpu', device: 'cpu', deviceName: pick(TEXTS), driver: maybe(() => pick(TEXTS)), measuredAt: pick(TEXTS), pairs: 1 + below(99), falseVerdicts: below(3), ratioP50: anyDouble(), ratioP95: anyDouble(), sessionId: pick(TEXTS) })
  Object.assign(file.environment, {
    caches: maybe(() => [{ name: pick(TEXTS), bytes: 1 + below(2 ** 30), instances: 1 + below(128) }]),
    governor: maybe(() => pick(TEXTS)),
    boost: maybe(() => below(2) === 1),
    powerSource: maybe(() => pick(TEXTS)),
    switches: maybe(() => [pick(TEXTS), pick(TEXTS)]),
    noiseFloors: maybe(() => [floor()]),
    ceilings: maybe(() => [{ backend: 'cpu', device: 'cpu', deviceName: pick(TEXTS), driver: maybe(() => pick(TEXTS)), kind: 'copy', value: anyDouble() + 1, unit: 'bytes/s' as const, measuredAt: pick(TEXTS), result: testResult({ samplesNs: [] }) }]),
  } satisfies Partial<SessionFile['environment']>)
  file.environment.devices = [testDevice({ name: pick(TEXTS), facts: [{ name: pick(TEXTS), value: pick(TEXTS) }], maxTensorBytes: maybe(() => 1 + below(1000)), driver: maybe(() => pick(TEXTS)), caches: maybe(() => [{ name: pick(TEXTS), bytes: 1 + below(1000) }]), disturbances: maybe(() => [pick(TEXTS)]) })]
  return file
}
