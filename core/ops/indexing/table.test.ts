import { expect, it, describe } from 'vitest'
import { givenInputs, generatedInputs } from '../testing'
import { embedding, gather, scatterAdd } from './table'

describe('embedding', () => {
  it('takes the rows that indices name', () => {
    expect(Array.from(embedding.reference({ rows: 3, dim: 2, indices: 4 }, givenInputs([2, 0, 2, 1], [1, 2, 3, 4, 5, 6]), 0, 8))).toEqual([5, 6, 1, 2, 5, 6, 3, 4])
  })

  it('counts the rows that random indices name, not the table', () => {
    const table = (rows: number, indices: number) => embedding.bytes({ rows, dim: 1, indices }, 'f32') - 8 * indices
    expect(table(1_000_000, 10)).toBe(40)
    expect(table(4, 1000)).toBe(16)
    // 1 - 1/e of the rows
    expect(table(100_000, 100_000) / 400_000).toBeCloseTo(0.632, 3)
  })
})

describe('gather', () => {
  it('takes each element by its own index', () => {
    expect(Array.from(gather.reference({ rows: 3, dim: 2, indices: 2 }, givenInputs([1, 2, 3, 4, 5, 6], [2, 0, 1, 1]), 0, 4))).toEqual([5, 2, 3, 4])
  })

  it('gives the same of a table too long to be kept', () => {
    const p = { rows: 3_000_000, dim: 2, indices: 5 }
    const read = generatedInputs(gather, p, 'f32', 3)
    const index = read(1, 0, 10)
    expect(Array.from(gather.reference(p, read, 0, 10))).toEqual(Array.from(index, (row, i) => read(0, row * 2 + (i % 2), 1)[0]))
  })
})

describe('scatter_add', () => {
  it('adds every source to the row its index names', () => {
    const read = givenInputs([100, 200, 300, 400, 500, 600], [2, 0, 2], [1, 2, 3, 4, 5, 6])
    expect(Array.from(scatterAdd.reference({ rows: 3, dim: 2, indices: 3 }, read, 0, 6))).toEqual([103, 204, 300, 400, 506, 608])
  })

  it('gives the same of a row, whose sources are looked up, as of the table, for which all are read in order', () => {
    const p = { rows: 3, dim: 40, indices: 1000 }
    const read = generatedInputs(scatterAdd, p, 'f32', 9)
    expect([0, 40, 80].flatMap((start) => Array.from(scatterAdd.reference(p, read, start, 40)))).toEqual(Array.from(scatterAdd.reference(p, read, 0, 120)))
  })

  it('relates errors to the typical size of a sum where sums cancel', () => {
    const p = { rows: 1, dim: 1, indices: 17 }
    const read = generatedInputs(scatterAdd, p, 'f32', 20260101)
    const [sum] = scatterAdd.reference(p, read, 0, 1)
    const rounded = Array.from(read(2, 0, 17)).concat(Array.from(read(0, 0, 1))).reduce((total, x) => Math.fround(total + x), 0)
    const { relL2 } = scatterAdd.tolerance(p, 'f32')
    expect(Math.abs(rounded - sum!) / Math.abs(sum!)).toBeGreaterThan(4 * relL2)
    expect(Math.abs(rounded - sum!) / scatterAdd.outputScale(p)).toBeLessThan(relL2 / 4)
  })

  it('costs one add per source element', () => expect([scatterAdd.flops({ rows: 3, dim: 2, indices: 5 }), scatterAdd.bytes({ rows: 3, dim: 2, indices: 5 }, 'f16')]).toEqual([10, 2 * (6 + 10 + 6) + 20]))
})
