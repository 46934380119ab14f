import { expect, test } from 'vitest'
import { getOp } from '../../ops/registry'
import { createReference, type ReferenceProblem } from './reference'
import { runSent, type CompareTask } from './pool'
import { threadPool, type StartThread } from './threads'

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

test('the same lane goes to the same thread, threads start with their first task, and small tasks need none', async () => {
  const { sent, start } = threads()
  const pool = threadPool(3, start)
  const small = { kind: 'compare', ranges: [{ start: 0, count: 4 }], values: new Float32Array(4) } as const
  expect(await pool.run(problem, small, 0)).toMatchObject({ elements: 4, beyond: 4 })
  expect(sent).toEqual([])
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
