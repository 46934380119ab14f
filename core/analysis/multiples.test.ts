import { expect, test } from 'vitest'
import { multiplesOf, type SplitFacet } from './multiples'

interface Line {
  op: string
  dtype: string
  impl: string
}
const facets: readonly SplitFacet<Line>[] = [{ id: 'op', valueOf: ({ op }) => op }, { id: 'dtype', valueOf: ({ dtype }) => dtype }]
const lines = (ops: number, dtypes: number, impls: number): Line[] => Array.from({ length: ops * dtypes * impls }, (_, i) => ({ op: `op${i % ops}`, dtype: `d${Math.floor(i / ops) % dtypes}`, impl: `i${Math.floor(i / ops / dtypes)}` }))

test('what fits one plot stays in one, without a title', () => {
  expect(multiplesOf(lines(2, 1, 3), facets)).toMatchObject({ multiples: [{ title: '' }], split: [] })
})

test('lines are split by one facet after another until every plot can be read', () => {
  const { multiples, split } = multiplesOf(lines(9, 3, 4), facets)
  expect(split).toEqual(['op', 'dtype'])
  expect(multiples).toHaveLength(27)
  expect(multiples.map(({ items }) => items.length)).toEqual(Array.from({ length: 27 }, () => 4))
  expect(multiples[0]!.title).toBe('op0 · d0')
  expect(multiplesOf(lines(9, 1, 2), facets).split).toEqual(['op'])
})

test('never more lines than can be told apart in one plot, and none lost', () => {
  const { multiples } = multiplesOf(lines(1, 1, 18), facets)
  expect(multiples.map(({ title, items }) => [title, items.length])).toEqual([['1 of 2', 9], ['2 of 2', 9]])
  expect(multiplesOf([], facets).multiples).toEqual([])
})
