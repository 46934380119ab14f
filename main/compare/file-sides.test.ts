import { expect, test } from 'vitest'
import { compareSessions } from '@core/compare'
import { testCase, testResult, testSession } from '@core/testing'
import { NotFoundError } from '../history/types'
import { FileSides } from './file-sides'

const file = (name: string, factor = 1) => testSession([testResult({ samplesNs: Array.from({ length: 40 }, (_, i) => (100 + (i % 5) / 100) * factor), summary: { count: 40, medianNs: 100 * factor } }), testResult({ id: 'r2', case: testCase({ op: 'gelu' }), samplesNs: [] })], { name })

test('two files with equal ids inside are told apart', () => {
  const files = new FileSides()
  const [one, two] = [files.add('a.json', file('A')), files.add('b.json', file('B', 1.2))]
  expect(one).toMatchObject({ name: 'A', fileName: 'a.json', results: 2 })
  const session = (id: string) => {
    const { side, environment, rows } = files.get(id)
    return { ...side, environment, rows }
  }
  const { rows, sessions } = compareSessions([session(one.id), session(two.id)], (id) => files.result(id))
  expect(rows[0]!.cells[1]).toMatchObject({ verdict: 'slower', speedup: expect.closeTo(1 / 1.2, 3) as number })
  expect(sessions.map(({ fileName }) => fileName)).toEqual(['a.json', 'b.json'])
})

test('what is held is bounded: the file that was opened first makes room', () => {
  const files = new FileSides({ files: 2, samples: 1000 })
  const ids = ['a', 'b', 'c'].map((name) => files.add(name, file(name)).id)
  expect(() => files.get(ids[0]!)).toThrow(NotFoundError)
  expect(files.get(ids[2]!).side.name).toBe('c')
  const few = new FileSides({ files: 20, samples: 50 })
  const [first, last] = [few.add('a', file('a')).id, few.add('b', file('b')).id]
  expect(() => few.get(first)).toThrow('The file is not open any more')
  expect(few.get(last).rows).toHaveLength(2)
})

test('a file that was closed is gone', () => {
  const files = new FileSides()
  const { id } = files.add('a.json', file('A'))
  files.forget(id)
  expect(() => files.result(`${id}/0`)).toThrow(NotFoundError)
})
