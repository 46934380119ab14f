import { describe, expect, test } from 'vitest'
import type { Backend, PreparedCase } from '../backend'
import type { FromHost } from './protocol'
import { add, clock, host, memoryBackend, settings } from './testing'

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
      if (impl === 'y') clock.ms += count
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

  test('may be on the quietest processor where all that are compared are in it', async () => {
    const quietest = async (whole?: boolean) => {
      const asked: (boolean | undefined)[] = []
      const memory = memoryBackend([])
      const h = host([{ ...memory, open: (problem, alive) => (asked.push(problem.quietest), memory.open(problem, alive)) }])
      h.deliver({ type: 'measure', id: 1, case: { ...add, impl: 'x' }, settings, resultId: 'r1', rounds: { others: [{ ...add, impl: 'y' }], first: 0, count: 4, seconds: 1, ...(whole === undefined ? {} : { whole }) } })
      await h.answer(1)
      return asked
    }
    expect([await quietest(true), await quietest(false), await quietest()]).toEqual([[true, true], [false, false], [false, false]])
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

  test('ends after its first rounds where something else ran on the same core beside all of them', async () => {
    const rounds = async (probeNs: (calls: number) => number) => {
      let calls = 0
      const memory = memoryBackend([], 1000, () => void calls++, () => ({ probeBestNs: 3000 }))
      const backend: Backend = { ...memory, open: async (problem) => {
        const prepared = await memory.open(problem)
        return { ...prepared, sample: async (request) => ({ ...(await prepared.sample(request)), probeNs: new Float64Array(request.count).fill(probeNs(calls)) }) }
      } }
      return new Set((await pass(1, ['x', 'y'], 0, backend, 12).answer).result.rounds!.numbers).size
    }
    expect(await rounds(() => 3100)).toBe(12)
    expect(await rounds(() => 4000)).toBe(4)
    // Beside some of them: the others say something.
    expect(await rounds((calls) => (calls % 2 === 0 ? 4000 : 3000))).toBe(12)
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
