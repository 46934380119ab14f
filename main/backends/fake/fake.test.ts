import { describe, expect, test } from 'vitest'
import { problemOf } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { measureCase } from '@core/measure/measure-case'
import { CancelledError } from '@core/measure/sampler'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import { OPS, getOp } from '@core/ops/registry'
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
  const { signal, now } = options
  const result = await measureCase({ op: getOp(c.op), case: c, prepared, settings: { ...settings, ...options.settings }, resultId: 'r', ...(signal ? { signal } : {}), ...(now ? { now } : {}) })
  return resultSchema.parse(result)
}

describe('an honest implementation', () => {
  test.each(OPS.map((op) => op.id))('of %s is verified, measured and converges', async (id) => {
    const params = { vector: { n: 3000 }, matrix: { rows: 33, cols: 65, tokens: 33, dim: 65 }, gemm: { m: 17, n: 19, k: 23 } }[getOp(id).sizeKind]
    const parsed = getOp(id).params.parse({ ...params, ...Object.fromEntries(Object.entries(getOp(id).variants ?? {}).map(([name, choices]) => [name, choices[0]!])) })
    const result = await measure(aCase('steady', { op: id, params: parsed }))
    expect(result).toMatchObject({ status: 'ok', converged: true, grade: 'A', verification: { ok: true }, verificationAfter: { ok: true }, timer: 'scripted' })
    expect(result.verification!.checkedElements).toBe(result.verification!.totalElements)
    expect(result.summary!.ciHighNs! / result.summary!.ciLowNs!).toBeLessThan(1 + 2 * settings.relativeCi)
  })

  test('gives the same samples for the same seed, and samples long enough for its timer', async () => {
    const [a, b] = [await measure(aCase('steady'), { now: steppingClock(1) }), await measure(aCase('steady'), { now: steppingClock(1) })]
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
    ['nan', /1 of 4,099 checked elements are NaN or infinite .* element 2,049/],
    ['zeros', /relative error is 1\.00e\+0/],
    ['stale', /relative error/],
    ['lower', /relative error is \d\.\d+e-4/],
    ['shifted', /relative error/],
  ])('%s, before any timing', async (impl, message) => {
    const result = await measure(aCase(impl))
    expect(result).toMatchObject({ status: 'wrong', message: expect.stringMatching(message), verification: { ok: false }, samplesNs: [] })
    expect(result.summary).toBeUndefined()
    expect(result.grade).toBeUndefined()
  })

  test.each([['lazy', /After timing: 4,099 of 4,099 output elements were never written/], ['cheat', /After timing: The relative error/]])('%s, by the timed buffer', async (impl, message) => {
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
    for (const impl of ['noop', 'half', 'zeros', 'stale', 'lower', 'shifted', 'lazy', 'cheat']) expect((await measure(aCase(impl, large), few)).status, impl).toBe('wrong')
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
