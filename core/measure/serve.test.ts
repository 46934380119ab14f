import { describe, expect, test } from 'vitest'
import { CaseError, type Backend, type PreparedCase, type Problem } from '../backend'
import type { BenchmarkCase } from '../case'
import { add, clock, host, memoryBackend, settings } from './testing'

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

test('blocks of a case that is measured in rounds are opened anew, but verified with other inputs once', async () => {
  const log: string[] = []
  const h = host([memoryBackend(log)])
  for (const id of [1, 2, 3]) h.deliver({ type: 'measure', id, case: add, settings: { ...settings, rule: { id: 'fixed-count', count: 5 } }, resultId: String(id), round: true })
  for (const id of [1, 2, 3]) expect(await h.answer(id)).toMatchObject({ result: { status: 'ok', verification: { checkedElements: 1000 }, verificationAfter: { ok: true } } })
  expect(log).toEqual(['open', 'dispose', 'open', 'dispose', 'open', 'dispose'])
  expect(h.messages.flatMap((m) => (m.type === 'progress' && m.phase === 'verifying' ? [m.id] : []))).toEqual([1])
})

test('a case that takes long to open stays open between blocks, until a case that is measured by itself', async () => {
  const log: string[] = []
  const memory = memoryBackend(log)
  const slow: Backend = { ...memory, open: (problem) => ((clock.ms += 30), memory.open(problem)) }
  const h = host([slow])
  for (const id of [1, 2]) h.deliver({ type: 'measure', id, case: add, settings, resultId: String(id), round: true })
  h.deliver({ type: 'measure', id: 3, case: { ...add, params: { n: 10 } }, settings, resultId: '3' })
  await h.answer(3)
  expect(log).toEqual(['open', 'dispose', 'open', 'dispose'])
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

test('a link that takes neither an answer nor an error is a fault, and the next request is answered', async () => {
  const h = host([memoryBackend([])], (message) => 'id' in message && message.id === 1)
  h.deliver({ type: 'devices', id: 1 })
  h.deliver({ type: 'devices', id: 2 })
  expect(await h.answer(2)).toEqual({ type: 'devices', id: 2, devices: [] })
  expect(h.faults).toEqual([expect.stringContaining('the channel takes no message')])
})

test('times that are no times fail the case', async () => {
  const h = host([memoryBackend([], NaN)])
  h.deliver({ type: 'measure', id: 1, case: add, settings, resultId: 'r' })
  expect(await h.answer(1)).toMatchObject({ type: 'result', result: { status: 'failed', message: expect.stringContaining('NaN ns'), samplesNs: [] } })
})

describe('cases left open', () => {
  const keep = (h: ReturnType<typeof host>, id: number, n: number, over: Partial<BenchmarkCase> = {}, kept = true) => {
    h.deliver({ type: 'measure', id, case: { ...add, params: { n }, ...over }, settings, resultId: `r${id}`, keep: kept })
    return h.answer(id)
  }
  /** A backend with room for one case called `large`, and only beside no other. */
  function logged(): { log: string[]; backend: Backend } {
    const log: string[] = []
    const inner = memoryBackend([])
    const open = async (problem: Problem): Promise<PreparedCase> => {
      const name = `${problem.case.impl} ${String(problem.case.params['n'])}`
      const opened = log.filter((entry) => entry.startsWith('open')).length - log.filter((entry) => entry.startsWith('close')).length
      if (problem.case.impl === 'large' && opened > 0) {
        log.push('full')
        throw new CaseError('out-of-memory', 'No room beside other cases.')
      }
      log.push(`open ${name}`)
      const prepared = await inner.open(problem)
      return { ...prepared, refill: async (seed) => (log.push(`fill ${name}`), prepared.refill(seed)), dispose: async () => void log.push(`close ${name}`) }
    }
    return { log, backend: { ...inner, open } }
  }
  const opens = (log: readonly string[]) => log.filter((entry) => !entry.startsWith('fill'))

  test('are measured again without being opened or filled, and verified each time', async () => {
    const { log, backend } = logged()
    const h = host([backend])
    for (const [id, n] of [[1, 10], [2, 20], [3, 20], [4, 10]] as const) expect(await keep(h, id, n)).toMatchObject({ type: 'result', result: { status: 'ok', verification: { ok: true }, verificationAfter: { ok: true } } })
    expect(opens(log)).toEqual(['open js 10', 'open js 20'])
    // Opened with the inputs to verify with, then filled for timing.
    expect(log.filter((entry) => entry === 'fill js 10')).toHaveLength(1)
  })

  test('are filled and verified anew for another seed', async () => {
    const { log, backend } = logged()
    const h = host([backend])
    await keep(h, 1, 10)
    h.deliver({ type: 'measure', id: 2, case: { ...add, params: { n: 10 } }, settings: { ...settings, seed: 7 }, resultId: 'r2', keep: true })
    expect(await h.answer(2)).toMatchObject({ result: { status: 'ok', seed: 7 } })
    expect(log).toEqual(['open js 10', 'fill js 10', 'fill js 10', 'fill js 10'])
  })

  test('that go wrong later are refused and closed', async () => {
    const { log, backend } = logged()
    let tired = false
    const failing: Backend = { ...backend, open: async (problem) => {
      const prepared = await backend.open(problem)
      return { ...prepared, read: async (output, start, count) => (tired ? (await prepared.read(output, start, count)).map((value) => value + 1) : prepared.read(output, start, count)) }
    } }
    const h = host([failing])
    expect(await keep(h, 1, 10)).toMatchObject({ result: { status: 'ok' } })
    tired = true
    expect(await keep(h, 2, 10)).toMatchObject({ result: { status: 'wrong', message: expect.stringContaining('After timing') } })
    expect(opens(log)).toEqual(['open js 10', 'close js 10'])
  })

  test('are two at most: the one unused longest gives way', async () => {
    const { log, backend } = logged()
    const h = host([backend])
    for (const [id, n] of [[1, 10], [2, 20], [3, 10], [4, 30], [5, 10]] as const) await keep(h, id, n)
    expect(opens(log)).toEqual(['open js 10', 'open js 20', 'close js 20', 'open js 30'])
  })

  test('give way to a case that finds no memory beside them', async () => {
    const { log, backend } = logged()
    const h = host([backend])
    await keep(h, 1, 10)
    expect(await keep(h, 2, 20, { impl: 'large' })).toMatchObject({ result: { status: 'ok' } })
    expect(opens(log)).toEqual(['open js 10', 'full', 'close js 10', 'open large 20'])
  })

  test('are closed before any case that is measured for itself', async () => {
    const { log, backend } = logged()
    const h = host([backend])
    await keep(h, 1, 10)
    await keep(h, 2, 20)
    await keep(h, 3, 10, {}, false)
    expect(opens(log)).toEqual(['open js 10', 'open js 20', 'close js 10', 'close js 20', 'open js 10', 'close js 10'])
  })

  test('are not kept when they failed or were cancelled', async () => {
    const { log, backend } = logged()
    const h = host([backend])
    h.deliver({ type: 'measure', id: 1, case: add, settings: { ...settings, minSamples: 1e9, maxSeconds: 1e6 }, resultId: 'r', keep: true })
    await h.wait((m) => m.type === 'progress' && m.phase === 'sampling' && m.samples > 0)
    h.deliver({ type: 'cancel', id: 1 })
    await h.answer(1)
    expect(opens(log)).toEqual(['open js 1000', 'close js 1000'])
  })
})
