import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '../case'
import { sizeOf, sizeTitle } from './size'

const caseOf = (over: Partial<BenchmarkCase>): BenchmarkCase => ({
  op: 'add', params: { n: 1024 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', threads: 1, ...over,
})

describe('sizeOf', () => {
  it('is the elements of the largest tensor', () => {
    expect(sizeOf(caseOf({ params: { n: 4096 } }))).toBe(4096)
    expect(sizeOf(caseOf({ op: 'matmul', params: { m: 2, n: 3, k: 50, batch: 4, transA: false, transB: false } }))).toBe(4 * 3 * 50)
  })
  it('is the one number of a benchmark of another tool, and unknown where it has several or none', () => {
    expect(sizeOf(caseOf({ op: 'BM_copy' }))).toBe(1024)
    expect(sizeOf(caseOf({ op: 'BM_copy', params: { arg0: 4, arg1: 8 } }))).toBeUndefined()
    expect(sizeOf(caseOf({ op: 'BM_copy', params: { kind: 'x' } }))).toBeUndefined()
  })
  it('is unknown for parameters that its op does not take', () => {
    expect(sizeOf(caseOf({ params: { rows: 3 } }))).toBeUndefined()
  })
})

it('calls the axis what its sizes are', () => {
  expect(sizeTitle([caseOf({})])).toBe('elements of the largest tensor')
  expect(sizeTitle([caseOf({}), caseOf({ op: 'BM_copy' })])).toContain('argument of an imported benchmark')
})
