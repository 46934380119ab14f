import { describe, expect, test } from 'vitest'
import { CaseError, problemInputs, problemOutputs, type Backend, type DeviceState, type PreparedCase, type Problem } from '../backend'
import type { BenchmarkCase } from '../case'
import { fillRange } from '../values/random'
import { fromHostSchema, type FromHost } from './protocol'
import { serve } from './serve'
import { PRESETS } from './settings'

const settings = { ...PRESETS.quick, minSeconds: 0.001, maxSeconds: 0.05, maxWarmupSeconds: 0.001 }
const add: BenchmarkCase = { op: 'add', params: { n: 1000 }, dtype: 'f32', backend: 'memory', impl: 'js', device: 'memory', mode: 'hot' }

/** A clock that goes on by 10 us each time it is read: what a loaded machine takes away must not decide what is opened again or how many bursts there are. */
let clockMs = 0
const now = () => (clockMs += 0.01)

/** An honest backend in plain memory: enough to drive the protocol. */
function memoryBackend(log: string[], sampleNs = 1000, onSample: (impl: string, count: number) => void = () => undefined, state: () => DeviceState = () => ({})): Backend {
  const open = async (problem: Problem): Promise<PreparedCase> => {
    log.push('open')
    const { impl } = problem.case
    if (impl === 'broken' || impl === 'oversized') log.push('refused')
    if (impl === 'broken') throw new Error('no such implementation')
    if (impl === 'oversized') throw new CaseError('out-of-memory', 'no memory')
    const out = new Float32Array(problemOutputs(problem)[0]!.elements)
    let seed = problem.seed
    const run = async () => {
      const [a, b] = problemInputs(problem).map(({ fill, storage, elements }, i) => fillRange(seed, i, fill!, storage, 0, elements))
      for (let i = 0; i < out.length; i++) out[i] = a![i]! + b![i]!
      if (impl === 'wrong') out[500]! += 1
    }
    return {
      timer: 'scripted', tickNs: 1, notes: [],
      refill: async (next) => void (seed = next),
      poison: async () => void out.fill(NaN),
      run,
      scan: async () => [{ unwritten: out.filter(Number.isNaN).length, nonFinite: 0 }],
      read: async (_output, start, count) => out.slice(start, start + count),
      sample: async ({ count, inner }) => {
        if (impl === 'throws') throw new CaseError('kernel-failed', 'the kernel failed')
        await run()
        onSample(impl, count)
        return { samplesNs: new Float64Array(count).fill(sampleNs), inner, state: state() }
      },
      memory: () => ({ caseBytes: 12000 }),
      dispose: async () => void log.push('dispose'),
    }
  }
  return { id: 'memory', devices: async () => [], open }
}

function host(backends: readonly Backend[], refuses: (message: FromHost) => boolean = () => false) {
  const messages: FromHost[] = []
  const faults: string[] = []
  const waiting: { test: (m: FromHost) => boolean; resolve: (m: FromHost) => void }[] = []
  let deliver: (message: unknown) => void = () => undefined
  const send = (message: FromHost) => {
    if (refuses(message)) throw new Error('the channel takes no message')
    messages.push(fromHostSchema.parse(structuredClone(message)))
    for (const entry of waiting.filter((w) => w.test(message))) entry.resolve(message)
  }
  serve(backends, { send, onMessage: (listener) => void (deliver = listener) }, { onFault: (reason) => faults.push(reason), now })
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

test('blocks of a case that is measured in rounds are opened anew, but verified with other inputs once', async () => {
  const log: string[] = []
  const h = host([memoryBackend(log)])
  for (const id of [1, 2, 3]) h.deliver({ type: 'measure', id, case: add, settings: { ...settings, rule: { id: 'fixed-count', count: 5 } }, resultId: String(id), round: true })
  for (const id of [1, 2, 3]) expect(await h.answer(id)).toMatchObject({ result: { status: 'ok', verification: { checkedElements: 1000 }, verificationAfter: { ok: true } } })
  expect(log).toEqual(['open', 'dispose', 'open', 'dispose', 'open', 'dispose'])
  expect(h.messages.flatMap((m) => (m.type === 'progress' && m.phase === 'verifying' ? [m.id] : []))).toEqual([1])
})

describe('a pass of rounds', () => {
  const pass = (id: number, impls: readonly string[], first: number, backend: Backend, count = 4) => {
    const [lead, ...others] = impls.map((impl) => ({ ...add, impl }))
    const h = host([backend])
    h.deliver({ type: 'measure', id, case: lead, settings, resultId: `r${id}`, rounds: { others, first, count, seconds: 1 } })
    return { h, answer: h.answer(id) as Promise<Extract<FromHost, { type: 'result' }>> }
  }

  test('goes through the implementations there and back, and gives a result of each', async () => {
    const log: string[] = []
    const { result, others } = await pass(1, ['x', 'y', 'z'], 2, memoryBackend(log, 1000, (impl, count) => log.push(`${impl} ${count}`))).answer
    expect([result, ...others!].map(({ id, case: c, status, rounds, samplesNs, verification, verificationAfter }) => [id, c.impl, status, rounds!.numbers, samplesNs.length % rounds!.numbers.length, verification!.ok, verificationAfter!.ok])).toEqual([
      ['r1', 'x', 'ok', [2, 3, 4, 5], 0, true, true], ['r1-1', 'y', 'ok', [2, 3, 4, 5], 0, true, true], ['r1-2', 'z', 'ok', [2, 3, 4, 5], 0, true, true],
    ])
    // After the warm-up of each, the rounds, and last a call of each whose output is checked.
    const order = log.filter((entry) => / \d/.test(entry)).slice(-15, -3).map((entry) => entry[0]).join('')
    expect([order.slice(0, 6), order.slice(6)]).toEqual([order.slice(6), [...order.slice(0, 6)].reverse().join('')])
    expect(new Set(order)).toEqual(new Set('xyz'))
    expect(log.filter((entry) => entry === 'open')).toHaveLength(3)
    expect(log.filter((entry) => entry === 'dispose')).toHaveLength(3)
  })

  test('a burst follows more untimed calls where the clock takes longer to follow the instructions', async () => {
    const untimed = async (clockSettlesSeconds: number) => {
      const counts: number[] = []
      const memory = memoryBackend([], 1000, (_impl, count) => void counts.push(count))
      const { result } = await pass(1, ['x', 'y'], 0, { ...memory, open: async (problem) => ({ ...(await memory.open(problem)), clockSettlesSeconds }) }).answer
      // Behind the last burst is the call of each implementation whose output is checked.
      return counts.at(-3)! - result.samplesNs.length / result.rounds!.numbers.length
    }
    const [usual, settled] = [await untimed(0), await untimed(0.01)]
    expect(usual).toBeGreaterThan(0)
    expect(settled).toBeGreaterThan(10 * usual)
  })

  test('bursts of implementations with the same times are as long, though other programs took time from one of them', async () => {
    const counts: Record<string, number[]> = { x: [], y: [] }
    const { result, others } = await pass(1, ['x', 'y'], 0, memoryBackend([], 1000, (impl, count) => {
      counts[impl]!.push(count)
      if (impl === 'y') clockMs += count
    })).answer
    expect(counts['y']!.at(-2)).toBe(counts['x']!.at(-2))
    expect(others![0]!.samplesNs.length).toBe(result.samplesNs.length)
  })

  test('samples have as many calls where the host was busy for one while their number was found', async () => {
    let busy = true
    const memory = memoryBackend([])
    const backend: Backend = { ...memory, open: async (problem) => {
      const prepared = await memory.open(problem)
      const sample: PreparedCase['sample'] = async (request) => {
        // So many are only asked for before the first round.
        if (request.count > 100) busy = false
        const timed = await prepared.sample(request)
        return problem.case.impl === 'y' && busy ? { ...timed, samplesNs: timed.samplesNs.map((ns) => 5 * ns) } : timed
      }
      return { ...prepared, sample }
    } }
    const { result, others } = await pass(1, ['y', 'x'], 0, backend).answer
    expect([result.case.impl, result.inner]).toEqual(['y', others![0]!.inner])
    expect(result.inner).toBeGreaterThan(1)
  })

  test('opens the implementations on the memory of the first', async () => {
    const beside: (boolean | undefined)[] = []
    const memory = memoryBackend([])
    await pass(1, ['x', 'y', 'z'], 0, { ...memory, open: (problem, alive, other) => (beside.push(other !== undefined), memory.open(problem, alive)) }).answer
    expect(beside).toEqual([false, true, true])
  })

  test('a burst in which the processor was taken away is taken again, three times at most, and all are kept', async () => {
    let calls = 0
    const interrupting = memoryBackend([], 1000, () => void calls++, () => ({ involuntarySwitches: (calls * calls) % 7 < 3 ? 1 : 0 }))
    const { result } = await pass(1, ['x', 'y'], 0, interrupting).answer
    const { numbers, firstSamples } = result.rounds!
    const wasInterrupted = (from: number) => result.deviceStates!.findLast(({ firstSample }) => firstSample <= from)!.state.involuntarySwitches! > 0
    const tries = (i: number) => numbers.slice(0, i + 1).filter((round) => round === numbers[i]).length
    expect(numbers.length).toBeGreaterThan(4)
    expect([...new Set(numbers)]).toEqual([0, 1, 2, 3])
    expect(numbers.map((round, i) => numbers[i + 1] === round)).toEqual(numbers.map((_, i) => wasInterrupted(firstSamples[i]!) && tries(i) < 3))
    expect(result.samplesNs.length).toBeGreaterThan(firstSamples.at(-1)!)
  })

  test('each interrupted burst has its switches, though those of the one before were as many', async () => {
    const { result } = await pass(1, ['x', 'y'], 0, memoryBackend([], 1000, () => undefined, () => ({ involuntarySwitches: 1 }))).answer
    expect(result.deviceStates!.map(({ firstSample }) => firstSample)).toEqual(result.rounds!.firstSamples)
  })

  test('implementations that fail, are wrong or find no memory have their failures, and the others are measured on memory of their own', async () => {
    const log: string[] = []
    const { result, others } = await pass(1, ['x', 'broken', 'wrong', 'oversized', 'throws', 'z'], 0, memoryBackend(log)).answer
    expect([result, ...others!].map(({ case: c, status, rounds, errorCode }) => [c.impl, status, rounds?.numbers.length, errorCode])).toEqual([
      ['x', 'ok', 4, undefined], ['broken', 'failed', undefined, undefined], ['wrong', 'wrong', undefined, undefined], ['oversized', 'failed', undefined, 'out-of-memory'], ['throws', 'failed', undefined, 'kernel-failed'], ['z', 'ok', 4, undefined],
    ])
    expect(others!.find(({ errorCode }) => errorCode === 'out-of-memory')!.message).toMatch(/^no memory The tensors of this case take 11\.7 KiB\. Try 1\/2 of the elements/)
    expect(log.filter((entry) => entry === 'open').length).toBe(log.filter((entry) => entry === 'dispose').length + log.filter((entry) => entry === 'refused').length)
  })
})

test('a case that takes long to open stays open between blocks, until a case that is measured by itself', async () => {
  const log: string[] = []
  const memory = memoryBackend(log)
  const slow: Backend = { ...memory, open: (problem) => ((clockMs += 30), memory.open(problem)) }
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
