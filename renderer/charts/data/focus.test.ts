import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { completeFocus, facetChoices, within } from './focus'
import type { ChartPoint } from './points'

const point = (over: Partial<BenchmarkCase>): ChartPoint => ({
  id: JSON.stringify(over), case: { op: 'add', params: { n: 64 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', ...over },
  medianNs: 1, bytes: 1, flops: 1, samples: 1,
})
/** ops x modes x 4 implementations. */
const many = (ops: string[], modes: BenchmarkCase['mode'][] = ['cold', 'hot']) =>
  ops.flatMap((op) => modes.flatMap((mode) => ['scalar', 'sse2', 'avx2', 'avx512'].map((impl) => point({ op, mode, impl }))))

describe('focus', () => {
  it('leaves a chart alone that can be read', () => {
    expect(completeFocus(many(['add']), {})).toEqual({})
  })
  it('narrows to one operation, that of the selected result', () => {
    const points = many(['add', 'mul', 'exp'])
    expect(completeFocus(points, {})).toEqual({ op: 'add' })
    expect(completeFocus(points, {}, points.find((p) => p.case.op === 'exp'))).toEqual({ op: 'exp' })
  })
  it('goes on to modes only while there are still too many', () => {
    const points = many(['add', 'mul'], ['cold', 'hot', 'graph']).flatMap((p) => [p, point({ ...p.case, backend: 'other' })])
    expect(completeFocus(points, {})).toEqual({ op: 'add', mode: 'cold' })
  })
  it('never gives up a backend for its thread count', () => {
    const points = Array.from({ length: 9 }, (_, i) => [point({ op: `op${i}`, threads: 16 }), point({ op: `op${i}`, backend: 'cuda', impl: 'kernel' })]).flat()
    expect(completeFocus(points, { op: null })).toEqual({ op: null })
  })
  it('keeps what the user chose, all included', () => {
    expect(completeFocus(many(['add', 'mul', 'exp']), { op: null, mode: 'hot' })).toEqual({ op: null, mode: 'hot' })
  })
  it('offers just what varies', () => {
    expect(facetChoices(many(['add', 'mul'], ['hot'])).map((choice) => [choice.facet, choice.values.length])).toEqual([['op', 2], ['impl', 4]])
  })
  it('offers the hosts of devices of several machines, and narrows to one', () => {
    const points = ['n1/cuda:0', 'n1/cuda:1', 'n2/cuda:0'].map((device) => point({ backend: 'cuda', impl: 'kernel', device }))
    expect(facetChoices(points).find(({ facet }) => facet === 'host')?.values).toEqual(['n1', 'n2'])
    expect(within(points, { host: 'n1' }).map(({ case: c }) => c.device)).toEqual(['n1/cuda:0', 'n1/cuda:1'])
  })
  it('filters by every chosen facet', () => {
    expect(within(many(['add', 'mul']), { op: 'mul', mode: 'hot', impl: null })).toHaveLength(4)
  })
})
