import { expect, test } from 'vitest'
import type { PreparedCase } from '../backend'
import { OpenCases, type OpenCase } from './open-cases'

/** Cases that note when they are closed, and a clock that opening moves. */
function bed() {
  const closed: string[] = []
  const open = new Set<string>()
  let now = 0
  const opening = (id: string, ms: number) => () => {
    now += ms
    open.add(id)
    return Promise.resolve({ memory: () => ({ caseBytes: 1000 }), dispose: () => Promise.resolve(void (open.delete(id), closed.push(id))) } as Partial<PreparedCase> as PreparedCase)
  }
  const cases = new OpenCases()
  const clock = () => now
  const block = async (id: string, { ms = 5, well = true, holdsProcess = false } = {}) => {
    const taken = await cases.takeBlock(id, clock, opening(id, ms))
    await cases.giveBlockBack(id, taken, well, holdsProcess)
    return taken
  }
  return { cases, block, closed, open, opening, clock }
}

test('a case that holds a process is closed after each block of its rounds, so that the process is free for the next case', async () => {
  const { block, closed, open } = bed()
  // Half a second is long for a case of our own, and short against the start of a Python.
  for (const id of ['torch', 'numpy', 'torch', 'numpy']) await block(id, { ms: 500, holdsProcess: true })
  expect(closed).toEqual(['torch', 'numpy', 'torch', 'numpy'])
  expect([...open]).toEqual([])
})

test('the start of its process with the first block does not count as opening; a case that itself takes seconds stays open', async () => {
  const { block, closed } = bed()
  await block('compiled', { ms: 9000, holdsProcess: true })
  expect(closed).toEqual(['compiled'])
  await block('compiled', { ms: 4000, holdsProcess: true })
  expect(closed).toEqual(['compiled'])
  expect((await block('compiled', { holdsProcess: true })).fresh).toBe(false)
})

test('a case of our own process stays open where opening it takes longer than a block, whoever else is open', async () => {
  const { block, closed, open } = bed()
  for (const id of ['scalar', 'avx2', 'scalar', 'avx2']) await block(id, { ms: 500 })
  expect([closed, [...open]]).toEqual([[], ['scalar', 'avx2']])
  await block('quick', { ms: 5 })
  expect(closed).toEqual(['quick'])
})

test('a case that failed is closed, and the next block of it starts from nothing', async () => {
  const { block, closed } = bed()
  const first = await block('wrong', { ms: 500, well: false, holdsProcess: true })
  expect(closed).toEqual(['wrong'])
  expect((await block('wrong', { holdsProcess: true })).warmState).not.toBe(first.warmState)
})

test('the cases of a pass stay open together or are opened anew together, by the mean of what their openings took', async () => {
  const { cases, opening, closed, clock } = bed()
  const pass = async (ms: readonly number[]) => {
    const taken: (OpenCase & { identity: string })[] = []
    for (const [i, identity] of ['scalar', 'avx2'].entries()) taken.push({ identity, ...(await cases.takeBlock(identity, clock, opening(identity, ms[i]!), taken[0]?.fresh)) })
    await cases.givePassBack(taken, true)
    return taken.map(({ fresh }) => fresh)
  }
  // One opening that was held up does not leave its case on memory that the other has left.
  expect([await pass([1, 15]), closed]).toEqual([[true, true], ['scalar', 'avx2']])
  expect([await pass([1, 30]), closed]).toEqual([[true, true], ['scalar', 'avx2']])
  expect([await pass([1, 1]), closed]).toEqual([[false, false], ['scalar', 'avx2']])
  // The first gave way meanwhile: the other follows it.
  await cases.shrink(1)
  expect([await pass([1, 1]), closed]).toEqual([[true, true], ['scalar', 'avx2', 'scalar', 'avx2', 'scalar', 'avx2']])
})
