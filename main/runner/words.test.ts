import { expect, test } from 'vitest'
import { caseWords, listed, sessionName } from './words'
import { aCase, aSpec } from './testing'

test('a case reads as a line of words', () => {
  expect(caseWords({ ...aCase(16_777_216), impl: 'avx2', threads: 1 })).toBe('add 16Mi f32 cpu avx2 hot 1 thread')
  const sum = (axis: string) => caseWords({ ...aCase(0), op: 'sum', params: { rows: 1024, cols: 1024, axis } })
  expect([sum('all'), sum('last')]).toEqual(['sum all 1024x1024 f32 cpu x hot', 'sum last 1024x1024 f32 cpu x hot'])
  expect(caseWords({ ...aCase(4), op: 'gone_op', threads: 8 })).toBe('gone_op n=4 f32 cpu x hot 8 threads')
})

test('a session is named after what it runs, however much that is', () => {
  const ops = ['add', 'exp', 'gelu', 'sum', 'copy'].map((op) => ({ op }))
  expect(sessionName({ ...aSpec(['cpu', 'cuda', 'cpu']), ops })).toBe('add, exp, gelu and 2 more · f32 · cpu, cuda')
  expect(listed(['a'], 3)).toBe('a')
})
