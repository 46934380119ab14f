import { DTYPES, MODES } from '../case'
import { cleanSamples } from '../measure/result/labels'
import { mix32 } from '../values/random'
import { STATUSES, type Result } from '../result'
import type { SessionFile } from '../session/types'
import { summarize } from '../stats/summarize'
import { finite } from './shared/contradictions'
import { testCase, testDevice, testResult, testSession } from '../testing'

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
    const status = pick(STATUSES)
    const samplesNs = Array.from({ length: 1 + below(8) }, anyDouble)
    const labels = maybe(() => [{ kind: pick(['throttled', 'slow-clock', 'host-slowed', 'disturbed'] as const), reason: pick(TEXTS), first: below(3), count: 1 + below(3) }])
    // Importers hold a summary to its samples.
    const summary = finite(summarize(cleanSamples({ samplesNs, labels })))
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
      clocksMhz: maybe(() => samplesNs.map(anyDouble)),
      probesNs: maybe(() => samplesNs.map(anyDouble)),
      labels,
      run: maybe(() => below(5)),
      block: maybe(() => ({ pair: pick(TEXTS), quad: below(30), place: below(4) })),
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
