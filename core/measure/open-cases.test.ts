import { expect, test } from 'vitest'
import type { PreparedCase } from '../backend'
import { OpenCases } from './open-cases'

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
  const block = async (id: string, { ms = 5, well = true, holdsProcess = false } = {}) => {
    const taken = await cases.takeBlock(id, () => now, opening(id, ms))
    await cases.giveBlockBack(id, taken, well, holdsProcess)
    return taken
  }
  return { cases, block, closed, open }
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
