import { describe, expect, test } from 'vitest'
import { problemOf } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { measureCase } from '@core/measure/measure-case'
import { CancelledError } from '@core/measure/sampling/sampler'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { exampleParams } from '@core/ops/testing'
import { REPRESENTATIVES, getOp } from '@core/ops/registry'
import { resultSchema, type Result } from '@core/result'
import { fakeBackend } from '.'

const settings: MeasureSettings = { ...PRESETS.quick, maxWarmupSeconds: 0.01 }
const aCase = (impl: string, over: Partial<BenchmarkCase> = {}): BenchmarkCase => ({ op: 'add', params: { n: 4099 }, dtype: 'f32', backend: 'fake', impl, device: 'fake:0', mode: 'hot', ...over })

interface Options {
  settings?: Partial<MeasureSettings>
  signal?: AbortSignal
  factor?: number
  now?: () => number
}

async function measure(c: BenchmarkCase, options: Options = {}): Promise<Result> {
  const prepared = await fakeBackend({ factor: options.factor ?? 1 }).open(problemOf(getOp(c.op), c, settings.seed))
  // By a clock of its own, a result does not depend on what else the machine does.
  const { signal, now = steppingClock(1) } = options
  const result = await measureCase({ op: getOp(c.op), case: c, prepared, settings: { ...settings, ...options.settings }, resultId: 'r', now, ...(signal ? { signal } : {}) })
  return resultSchema.parse(result)
}

describe('an honest implementation', () => {
  test.each(REPRESENTATIVES.map((op) => op.id))('of %s is verified, measured and converges', async (id) => {
    const result = await measure(aCase('steady', { op: id, params: exampleParams(getOp(id)).at(-1)! }))
    expect(result).toMatchObject({ status: 'ok', converged: true, grade: 'A', verification: { ok: true }, verificationAfter: { ok: true }, timer: 'scripted' })
    expect(result.verification!.checkedElements).toBe(result.verification!.totalElements)
    expect(result.summary!.ciHighNs! / result.summary!.ciLowNs!).toBeLessThan(1 + 2 * settings.relativeCi)
  })

  test('gives the same samples for the same seed, and samples long enough for its timer', async () => {
    const [a, b] = [await measure(aCase('steady')), await measure(aCase('steady'))]
    expect(a.samplesNs).toEqual(b.samplesNs)
    expect(a.summary!.medianNs * a.inner!).toBeGreaterThan(1000 * a.tickNs!)
    expect(a.samplesNs.length).toBeLessThan(2000)
  })

  test('cold samples are single calls', async () => {
    expect(await measure(aCase('steady', { mode: 'cold' }))).toMatchObject({ status: 'ok', inner: 1 })
  })
})

describe('a wrong implementation is refused', () => {
  test.each([
    ['noop', /4,099 of 4,099 output elements were never written/],
    ['half', /2,050 of 4,099 output elements were never written/],
    ['nan', /1 of 4,099 output elements are NaN or infinite .* element 2,049/],
    ['zeros', /relative error is 1\.00e\+0/],
    ['other-seed', /relative error/],
    ['lower', /relative error is \d\.\d+e-4/],
    ['shifted', /relative error/],
  ])('%s, before any timing', async (impl, message) => {
    const result = await measure(aCase(impl))
    expect(result).toMatchObject({ status: 'wrong', message: expect.stringMatching(message), verification: { ok: false }, samplesNs: [] })
    expect(result.summary).toBeUndefined()
    expect(result.grade).toBeUndefined()
  })

  test.each([
    ['lazy', /After timing: 4,099 of 4,099 output elements were never written/],
    ['cheat', /After timing: The relative error/],
    ['stale', /After timing: The relative error/],
  ])('%s, by the timed buffer', async (impl, message) => {
    const result = await measure(aCase(impl))
    expect(result).toMatchObject({ status: 'wrong', message: expect.stringMatching(message), verification: { ok: true }, verificationAfter: { ok: false } })
    expect(result.grade).toBeUndefined()
  })

  test('also when the output is too large to check in full', async () => {
    const large = { params: { n: 300_007 } }
    const few = { settings: { verifyWork: 5000 } }
    const honest = await measure(aCase('steady', large), few)
    expect(honest).toMatchObject({ status: 'ok', verification: { ok: true, totalElements: 300_007 } })
    expect(honest.verification!.checkedElements).toBeLessThanOrEqual(5000)
    expect(honest.verification).toMatchObject({ method: 'sample', coverage: expect.closeTo(0.53, 1) })
    for (const impl of ['noop', 'half', 'zeros', 'stale', 'other-seed', 'lower', 'shifted', 'lazy', 'cheat']) expect((await measure(aCase(impl, large), few)).status, impl).toBe('wrong')
  })
})

describe('what was taken under bad conditions is labelled, kept and told', () => {
  /** A clock that moves on its own: the same batches every time. */
  const steady = { now: steppingClock(5), settings: { maxWarmupSeconds: 1 } }

  test('no clean sample: the result says so, keeps every sample and is graded C', async () => {
    const result = await measure(aCase('throttled'), steady)
    const taken = result.samplesNs.length
    expect(result).toMatchObject({ status: 'ok', grade: 'C', message: `No clean sample: throttled (power limit) in ${taken} of ${taken}.`, labels: [{ kind: 'throttled', reason: 'power limit', first: 0, count: taken }] })
    expect(result.gradeReasons).toEqual([result.message])
    expect(result.summary!.count).toBe(taken)
    expect(await measure(aCase('disturbed'), steady)).toMatchObject({ status: 'ok', grade: 'C', message: expect.stringMatching(/^No clean sample: disturbed \(another process on the device\) in/) })
  })

  test.each([['slow-clock', 'slow-clock', /clock low \(1200 of 1980 MHz\) in/], ['host-slowed', 'host-slowed', /host slowed \(CPU speed probe took 2\.5x its best time\) in/]] as const)(
    '%s: the slow samples are set aside, the median is that of the others', async (impl, kind, reason) => {
      const [result, calm] = [await measure(aCase(impl), steady), await measure(aCase('steady'), steady)]
      expect(result).toMatchObject({ status: 'ok', converged: true, grade: 'B', gradeReasons: [expect.stringMatching(reason)] })
      expect(result.message).toBeUndefined()
      const set = result.labels!.reduce((sum, label) => sum + label.count, 0)
      expect(set / result.samplesNs.length).toBeCloseTo(0.05, 1)
      expect(result.labels!.every((label) => label.kind === kind)).toBe(true)
      expect(result.summary!.count).toBe(result.samplesNs.length - set)
      expect(result.summary!.maxNs! / result.summary!.minNs!).toBeLessThan(1.05)
      expect(Math.max(...result.samplesNs) / Math.min(...result.samplesNs)).toBeGreaterThan(1.5)
      expect(result.summary!.medianNs / calm.summary!.medianNs).toBeCloseTo(1, 2)
      expect((kind === 'slow-clock' ? result.clocksMhz : result.probesNs)).toHaveLength(result.samplesNs.length)
    },
  )

  test('beside another program on the core: nothing is set aside, and the grade says what the processor lacked', async () => {
    const result = await measure(aCase('shared-core'), steady)
    expect(result).toMatchObject({ status: 'ok', converged: true, grade: 'B', gradeReasons: ['CPU slowed: it ran at 86 % of its best speed (lower clock, or another program on the core).'] })
    expect(result.labels).toBeUndefined()
  })

  test('a part of the batches', async () => {
    const result = await measure(aCase('part-throttled'), { ...steady, settings: { rule: { id: 'fixed-time', seconds: 1 }, maxWarmupSeconds: 0 } })
    expect(result.labels!.length).toBeGreaterThan(0)
    const states = result.deviceStates!
    for (const label of result.labels!) expect(states.find((entry) => entry.firstSample === label.first)?.state.throttle).toEqual(['power limit'])
    expect(result.gradeReasons!.join()).toMatch(/Samples excluded: \d+ of \d+; throttled \(power limit\)/)
  })
})

describe('the rule of the settings decides', () => {
  test('fixed-count takes that many', async () => {
    expect(await measure(aCase('steady'), { settings: { rule: { id: 'fixed-count', count: 33 } } })).toMatchObject({ converged: true, stopReason: '33 samples taken', summary: { count: 33 } })
  })
  test('fixed-count makes up for samples set aside', async () => {
    const result = await measure(aCase('host-slowed'), { settings: { rule: { id: 'fixed-count', count: 200 } } })
    expect(result.summary!.count).toBeGreaterThanOrEqual(200)
    expect(result.samplesNs.length).toBeGreaterThan(result.summary!.count!)
  })
  test('fixed-count that runs out of time is not converged, with the reason', async () => {
    const result = await measure(aCase('steady'), { settings: { rule: { id: 'fixed-count', count: 1e6 }, maxSeconds: 0.4, maxWarmupSeconds: 1 }, now: steppingClock(20) })
    expect(result).toMatchObject({ status: 'ok', converged: false, grade: 'C', gradeReasons: [expect.stringMatching(/^Not converged: time limit of 0.4 s reached with \d+ of 1000000 samples/)] })
  })
  test('one sample has no interval, which costs the grade', async () => {
    expect(await measure(aCase('steady'), { settings: { rule: { id: 'fixed-count', count: 1 } } })).toMatchObject({ converged: true, grade: 'B', summary: { count: 1 }, samplesNs: [expect.any(Number)] })
  })
  test('fixed-time samples for its time, whatever the least of the preset', async () => {
    const result = await measure(aCase('steady'), { settings: { rule: { id: 'fixed-time', seconds: 0.05 }, minSeconds: 10, minSamples: 1e6 }, now: steppingClock(5) })
    expect(result).toMatchObject({ converged: true, stopReason: '0.05 s sampled' })
  })
})

describe('noise is told, not hidden', () => {
  test('noisy', async () => {
    const result = await measure(aCase('noisy'), { settings: { relativeCi: 0.0001 }, now: steppingClock(20) })
    expect(result).toMatchObject({ status: 'ok', converged: false, grade: 'C' })
    expect(result.gradeReasons!.join()).toMatch(/Not converged.*Noisy/)
  })

  test('drifting', async () => {
    const result = await measure(aCase('drifting'))
    expect(result.grade).not.toBe('A')
    expect(result.gradeReasons!.join()).toMatch(/slower than the first/)
  })
})

test('one call longer than the whole limit is still sampled twice, and says so', async () => {
  const result = await measure(aCase('steady'), { now: steppingClock(3000), factor: 1e6, settings: { maxSeconds: 1 } })
  expect(result).toMatchObject({ status: 'ok', converged: false, grade: 'C', notes: expect.arrayContaining([expect.stringMatching(/longer than the limit of 1 s/)]) })
  expect(result.samplesNs).toHaveLength(2)
  expect(result.summary!.ciLowNs).toBeUndefined()
})

test('a lost device ends the case with the driver\'s words', async () => {
  expect(await measure(aCase('lost'))).toMatchObject({ status: 'failed', message: 'The device was lost.', detail: 'fake: GPU is off the bus (79)', samplesNs: [] })
})

test('cancel ends the case at the next batch', async () => {
  const controller = new AbortController()
  const running = measure(aCase('slow'), { signal: controller.signal })
  controller.abort()
  await expect(running).rejects.toBeInstanceOf(CancelledError)
})

/** A clock that moves by this many ms each time it is read. */
function steppingClock(ms: number): () => number {
  let time = 0
  return () => (time += ms)
}
