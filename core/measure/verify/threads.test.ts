import { expect, test, vi } from 'vitest'
import type { PreparedCase } from '../../backend'
import type { BenchmarkCase } from '../../case'
import { getOp } from '../../ops/registry'
import { createReference, type ReferenceProblem } from './reference'
import { compareRanges, OutputReader } from './read'
import type { Range } from './plan'
import { runSent, type CompareTask } from './pool'
import { threadPool, type StartThread } from './threads'
import { createVerifier } from './verify'
import { breather } from '../sampling/sampler'

const N = 300_000
const problem: ReferenceProblem = { op: getOp('gelu'), params: { n: N }, dtype: 'f32', seed: 5, output: 0 }
const task = (): CompareTask => ({ kind: 'compare', ranges: [{ start: 0, count: N }], values: Float32Array.from(createReference(problem)({ start: 0, count: N })) })

/** Threads that answer later, and what each was sent, copied as a message is. */
function threads(fails = false) {
  const sent: number[][] = []
  const start: StartThread = ({ answer, fault }) => {
    const lane: number[] = []
    sent.push(lane)
    return {
      post: (request) => {
        const { id, problem: to, task: what } = structuredClone(request)
        lane.push(id)
        setImmediate(() => (fails ? fault() : answer({ id, result: runSent({ problem: to, task: what }) })))
      },
    }
  }
  return { sent, start }
}

test('the same lane goes to the same thread, and threads start with their first task', async () => {
  const { sent, start } = threads()
  const pool = threadPool(3, start)
  const found = await Promise.all([pool.run(problem, task(), 1), pool.run(problem, task(), 4), pool.run(problem, task(), 2)])
  for (const difference of found) expect(difference).toMatchObject({ elements: N, beyond: 0, nonFinite: 0 })
  expect(sent).toEqual([[1, 2], [1]])
})

test('what a thread that fails has not answered is compared all the same', async () => {
  const pool = threadPool(1, threads(true).start)
  const found = await Promise.all([pool.run(problem, task(), 0), pool.run(problem, task(), 0)])
  for (const difference of [...found, await pool.run(problem, task(), 0)]) expect(difference).toMatchObject({ elements: N, beyond: 0 })
})

test('an error of the program ends the check', async () => {
  const pool = threadPool(1, ({ answer }) => ({ post: ({ id }) => setImmediate(() => answer({ id, error: 'out of memory' })) }))
  await expect(pool.run(problem, task(), 0)).rejects.toThrow('out of memory')
})

test('a check of little work needs no thread; one of much work gives them all of its parts, however small', async () => {
  const { values } = task()
  const prepared = { read: (_output: number, from: number, count: number) => Promise.resolve(values.slice(from, from + count)) } as unknown as PreparedCase
  const { sent, start } = threads()
  const check = { pool: threadPool(3, start), work: 1e9, pause: () => Promise.resolve() }
  const compared = (ranges: Range[]) => compareRanges(problem, new OutputReader(prepared), ranges, check)
  expect(await compared([{ start: 0, count: 1000 }])).toMatchObject({ elements: 1000, beyond: 0 })
  expect(sent).toEqual([])
  expect(await compared([{ start: 0, count: 250_000 }, { start: 250_000, count: 20_000 }, { start: 270_000, count: 30_000 }])).toMatchObject({ elements: N, beyond: 0 })
  expect(sent).toEqual([[1], [1]])
})

test('a single sum whose reference takes half a minute gives signs of life, and none when it is done', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval', 'performance'] })
  try {
    const params = getOp('sum').params.parse({ rows: 1, cols: 4 * N, axis: 'all' })
    const total = createReference({ op: getOp('sum'), params, dtype: 'f32', seed: 5, output: 0 })({ start: 0, count: 1 })
    const slow = threadPool(2, ({ answer }) => ({ post: ({ id, problem: to, task: what }) => void setTimeout(() => answer({ id, result: runSent({ problem: to, task: what }) }), 30_000) }))
    const prepared = { scan: async () => [{ unwritten: 0, nonFinite: 0 }], read: async () => Float32Array.from(total) } as unknown as PreparedCase
    const asked: BenchmarkCase = { op: 'sum', params, dtype: 'f32', backend: 'memory', impl: 'js', device: 'memory', mode: 'hot' }
    let signs = 0
    const checked = createVerifier(getOp('sum'), asked, 5, 1e6, { pool: slow }).check(prepared, 'after', breather(undefined, () => performance.now(), () => signs++))
    for (let second = 0; second < 40; second++) {
      await vi.advanceTimersByTimeAsync(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await checked).toMatchObject({ ok: true })
    expect(signs).toBeGreaterThan(25)
    expect(signs).toBeLessThan(32)
  } finally {
    vi.useRealTimers()
  }
})
