import { expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { fromHostSchema, type FromHost } from '@core/measure/protocol'
import { serve } from '@core/measure/serve'
import { PRESETS } from '@core/measure/settings'
import { fakeBackend } from '.'

const aCase = (impl: string, n: number): BenchmarkCase => ({ op: 'add', params: { n }, dtype: 'f32', backend: 'fake', impl, device: 'fake:0', mode: 'hot' })

/** Sends these cases at once to a host with the scripted backend, and resolves with its answers that are no progress. */
function answers(cases: readonly BenchmarkCase[], keep: boolean): Promise<FromHost[]> {
  return new Promise((resolve) => {
    const got: FromHost[] = []
    let deliver: (message: unknown) => void = () => undefined
    serve([fakeBackend()], {
      onMessage: (listener) => void (deliver = listener),
      send: (message) => {
        const parsed = fromHostSchema.parse(structuredClone(message))
        if (parsed.type !== 'progress' && parsed.type !== 'ready') got.push(parsed)
        if (got.length === cases.length) resolve(got)
      },
    })
    cases.forEach((c, i) => deliver({ type: 'measure', id: i + 1, case: c, settings: { ...PRESETS.quick, maxSeconds: 0.2, minSeconds: 0.01 }, resultId: `r${i}`, keep }))
  })
}

test.each([true, false])('a device that vanishes ends its case and every later one as failed, in the driver\'s words (cases kept: %s)', async (keep) => {
  const results = (await answers([aCase('steady', 64), aCase('vanish', 64), aCase('steady', 65), aCase('steady', 64)], keep)).map((m) => (m.type === 'result' ? m.result : undefined))
  expect(results[0]).toMatchObject({ status: 'ok' })
  for (const result of results.slice(1)) expect(result).toMatchObject({ status: 'failed', message: 'The device is gone.', detail: 'fake: no such device (100)', errorCode: 'device-lost', samplesNs: [] })
})
