import { problemOf, type Backend, type Device } from '@core/backend'
import type { BenchmarkCase, Mode } from '@core/case'
import { measureCase } from '@core/measure/measure-case'
import type { MeasureSettings } from '@core/measure/settings'
import { getOp } from '@core/ops/registry'
import type { Result } from '@core/result'
import { afterAll, describe, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'

/** What each cheat must be caught at: the sentence a user reads. */
const CHEATS: Readonly<Record<string, RegExp>> = {
  'red-noop': /^65,536 of 65,536 output elements were never written\.$/,
  'red-half': /^32,768 of 65,536 output elements were never written\.$/,
  'red-stale': /^After timing: The relative error is [\d.]+e[+-]\d+; at most .* is allowed\.$/,
  'red-nan': /^1 of 65,536 output elements are NaN .* the first is element 32,768\.$/,
  'red-half-precision': /^The relative error is [\d.]+e[+-]\d+; at most .* is allowed\.$/,
}

const ELEMENTS = 65_536
const SETTINGS: MeasureSettings = { relativeCi: 0.5, minSamples: 5, minSeconds: 0.002, maxSeconds: 1, maxWarmupSeconds: 0.02, verifyWork: 1e7, seed: 41 }

const before = process.env['OPSCOPE_RED_TEAM']
const restore = () => {
  if (before === undefined) delete process.env['OPSCOPE_RED_TEAM']
  else process.env['OPSCOPE_RED_TEAM'] = before
}
process.env['OPSCOPE_RED_TEAM'] = '1'
const { backends, problem } = nativeBackends()
const listed = await Promise.all(backends.map(async (backend) => ({ backend, devices: await backend.devices() })))
afterAll(restore)

async function measured(backend: Backend, device: Device, impl: string, mode: Mode, threads: number | undefined, n = ELEMENTS): Promise<Result> {
  const c: BenchmarkCase = { op: 'add', params: { n }, dtype: 'f32', backend: backend.id, impl, device: device.id, mode, threads }
  const op = getOp('add')
  const prepared = await backend.open(problemOf(op, c, SETTINGS.seed))
  try {
    return await measureCase({ op, case: c, prepared, settings: SETTINGS, resultId: 'red' })
  } finally {
    await prepared.dispose()
  }
}

if (backends.length === 0) describe.skip(`the native backends (skipped: ${problem ?? 'none'})`, () => it('refuse kernels that cheat', () => undefined))

for (const { backend, devices } of listed) {
  const device = devices.find((candidate) => candidate.available.ok)
  if (!device) {
    const reason = devices.flatMap((d) => (d.available.ok ? [] : [d.available.reason]))[0] ?? 'no device is listed'
    describe.skip(`${backend.id} (skipped: ${reason})`, () => it('refuses kernels that cheat', () => undefined))
    continue
  }
  const honest = device.impls.find((impl) => impl.preferred) ?? device.impls[0]!
  const threadChoices = device.threads.length > 0 ? device.threads : [undefined]

  describe(`${backend.id} refuses`, () => {
    it.each(Object.entries(CHEATS))('%s', async (impl, found) => {
      expect(device.impls.map((candidate) => candidate.id)).toContain(impl)
      for (const mode of ['cold', 'hot'] as const)
        for (const threads of threadChoices) {
          const result = await measured(backend, device, impl, mode, threads)
          expect({ mode, threads, status: result.status, grade: result.grade }).toEqual({ mode, threads, status: 'wrong', grade: undefined })
          expect(result.message).toMatch(found)
        }
    })

    it('red-beyond, whose output is right and which writes one element more', async () => {
      expect(device.impls.map((candidate) => candidate.id)).toContain('red-beyond')
      for (const threads of threadChoices) {
        const result = await measured(backend, device, 'red-beyond', 'hot', threads)
        expect({ threads, status: result.status, errorCode: result.errorCode, grade: result.grade }).toEqual({ threads, status: 'failed', errorCode: 'kernel-failed', grade: undefined })
        expect(result.message).toMatch(/^the kernel wrote outside out\b/i)
      }
    })

    it('nothing of an honest kernel measured the same way', async () => {
      for (const mode of ['cold', 'hot'] as const) {
        const result = await measured(backend, device, honest.id, mode, threadChoices[0])
        // A message may still tell of a host that was slow meanwhile.
        expect({ mode, status: result.status, right: result.verificationAfter?.ok }).toEqual({ mode, status: 'ok', right: true })
      }
    })

    it('to list the cheats where nobody asked for them', async () => {
      restore()
      try {
        const [plain] = await backend.devices()
        expect(plain?.impls.filter((impl) => impl.id.startsWith('red-'))).toEqual([])
        await expect(measured(backend, device, 'red-noop', 'hot', threadChoices[0])).rejects.toMatchObject({ code: 'unsupported' })
      } finally {
        process.env['OPSCOPE_RED_TEAM'] = '1'
      }
    })
  })
}
