import { expect, test } from 'vitest'
import type { Backend, PreparedCase, Problem } from '../backend'
import type { BenchmarkCase } from '../case'
import { fillRange } from '../random'
import { fromHostSchema, type FromHost } from './protocol'
import { serve } from './serve'
import { PRESETS } from './settings'

const settings = { ...PRESETS.quick, minSeconds: 0.001, maxSeconds: 0.05, maxWarmupSeconds: 0.001 }
const add: BenchmarkCase = { op: 'add', params: { n: 1000 }, dtype: 'f32', backend: 'memory', impl: 'js', device: 'memory', mode: 'hot' }

/** An honest backend in plain memory: enough to drive the protocol. */
function memoryBackend(log: string[], sampleNs = 1000): Backend {
  const open = async (problem: Problem): Promise<PreparedCase> => {
    log.push('open')
    if (problem.case.impl === 'broken') throw new Error('no such implementation')
    const out = new Float32Array(problem.outputElements)
    let seed = problem.seed
    const run = async () => {
      const [a, b] = problem.inputs.map((input, i) => fillRange(seed, i, input.fill, problem.case.dtype, 0, input.elements))
      for (let i = 0; i < out.length; i++) out[i] = a![i]! + b![i]!
    }
    return {
      timer: 'scripted', tickNs: 1, notes: [],
      refill: async (next) => void (seed = next),
      poison: async () => void out.fill(NaN),
      run,
      countUnwritten: async () => out.filter(Number.isNaN).length,
      read: async (start, count) => out.slice(start, start + count),
      sample: async ({ count }) => {
        await run()
        return { samplesNs: new Float64Array(count).fill(sampleNs), state: {} }
      },
      memory: () => ({ caseBytes: 12000 }),
      dispose: async () => void log.push('dispose'),
    }
  }
  return { id: 'memory', devices: async () => [], open }
}

function host(backends: readonly Backend[]) {
  const messages: FromHost[] = []
  const faults: string[] = []
  const waiting: { test: (m: FromHost) => boolean; resolve: (m: FromHost) => void }[] = []
  let deliver: (message: unknown) => void = () => undefined
  const send = (message: FromHost) => {
    messages.push(fromHostSchema.parse(structuredClone(message)))
    for (const entry of waiting.filter((w) => w.test(message))) entry.resolve(message)
  }
  serve(backends, { send, onMessage: (listener) => void (deliver = listener) }, { onFault: (reason) => faults.push(reason) })
  const wait = (test: (m: FromHost) => boolean) => {
    const already = messages.find(test)
    return already ? Promise.resolve(already) : new Promise<FromHost>((resolve) => waiting.push({ test, resolve }))
  }
  return { messages, faults, deliver: (m: unknown) => deliver(m), answer: (id: number) => wait((m) => 'id' in m && m.id === id && m.type !== 'progress'), wait }
}

test('a case is opened, measured, reported and disposed', async () => {
  const log: string[] = []
  const h = host([memoryBackend(log)])
  expect(h.messages[0]).toEqual({ type: 'ready' })
  h.deliver({ type: 'measure', id: 1, case: add, settings, resultId: 'r1' })
  const answer = await h.answer(1)
  expect(answer).toMatchObject({ type: 'result', result: { id: 'r1', status: 'ok', verification: { ok: true, checkedElements: 1000 }, verificationAfter: { ok: true }, bytes: 12000 } })
  expect(log).toEqual(['open', 'dispose'])
  const phases = h.messages.flatMap((m) => (m.type === 'progress' ? [m.phase] : []))
  expect([...new Set(phases)]).toEqual(['preparing', 'verifying', 'warming up', 'sampling', 'checking'])
})

test('a backend that cannot open a case costs that case only', async () => {
  const h = host([memoryBackend([])])
  h.deliver({ type: 'measure', id: 1, case: { ...add, impl: 'broken' }, settings, resultId: 'r1' })
  h.deliver({ type: 'measure', id: 2, case: { ...add, op: 'no-such-op' }, settings, resultId: 'r2' })
  h.deliver({ type: 'measure', id: 3, case: { ...add, backend: 'elsewhere' }, settings, resultId: 'r3' })
  h.deliver({ type: 'measure', id: 4, case: { ...add, params: { n: -1 } }, settings, resultId: 'r4' })
  h.deliver({ type: 'measure', id: 5, case: add, settings, resultId: 'r5' })
  expect(await h.answer(1)).toMatchObject({ type: 'result', result: { status: 'failed', message: 'no such implementation' } })
  expect(await h.answer(2)).toMatchObject({ result: { status: 'failed', message: expect.stringContaining('no-such-op') } })
  expect(await h.answer(3)).toMatchObject({ result: { status: 'failed', message: expect.stringContaining('serves memory') } })
  expect(await h.answer(4)).toMatchObject({ result: { status: 'failed', message: expect.stringContaining('parameters of add are not valid: n') } })
  expect(await h.answer(5)).toMatchObject({ result: { status: 'ok' } })
})

test('cancel ends the running case at the next batch and disposes it', async () => {
  const log: string[] = []
  const h = host([memoryBackend(log)])
  const forever = { ...settings, minSamples: 1e9, maxSeconds: 1e6 }
  h.deliver({ type: 'measure', id: 7, case: add, settings: forever, resultId: 'r' })
  await h.wait((m) => m.type === 'progress' && m.phase === 'sampling' && m.samples > 0)
  h.deliver({ type: 'cancel', id: 7 })
  expect(await h.answer(7)).toEqual({ type: 'cancelled', id: 7 })
  expect(log).toEqual(['open', 'dispose'])
})

test('a case cancelled while it waits is never opened', async () => {
  const log: string[] = []
  const h = host([memoryBackend(log)])
  h.deliver({ type: 'measure', id: 1, case: add, settings, resultId: 'a' })
  h.deliver({ type: 'measure', id: 2, case: add, settings, resultId: 'b' })
  h.deliver({ type: 'cancel', id: 2 })
  expect(await h.answer(2)).toEqual({ type: 'cancelled', id: 2 })
  expect(log).toEqual(['open', 'dispose'])
})

test.each([
  ['not an object', 'measure'],
  ['an unknown type', { type: 'explode', id: 3 }],
  ['a case without dtype', { type: 'measure', id: 3, case: { ...add, dtype: undefined }, settings, resultId: 'r' }],
  ['settings that are not numbers', { type: 'measure', id: 3, case: add, settings: { ...settings, maxSeconds: NaN }, resultId: 'r' }],
])('%s is refused and reported as a fault', (_name, message) => {
  const log: string[] = []
  const h = host([memoryBackend(log)])
  h.deliver(message)
  expect(h.messages.at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining('malformed') })
  expect(h.faults).toHaveLength(1)
  expect(log).toEqual([])
})

test('times that are no times fail the case', async () => {
  const h = host([memoryBackend([], NaN)])
  h.deliver({ type: 'measure', id: 1, case: add, settings, resultId: 'r' })
  expect(await h.answer(1)).toMatchObject({ type: 'result', result: { status: 'failed', message: expect.stringContaining('NaN ns'), samplesNs: [] } })
})
