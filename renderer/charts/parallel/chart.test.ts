import { describe, expect, it } from 'vitest'
import { chartPoint, drawOf } from '../testing'
import { variantsOf } from '../data/variants'
import chart, { bundlesOf, crossingOf, dimensionsOf, jitter, brushedIds, thinLines } from './chart'

const points = ['add', 'mul'].flatMap((op) => [64, 1024].flatMap((n) => ['scalar', 'avx2'].map((impl) => chartPoint({ op, n, impl }, impl === 'scalar' ? n : n / 4))))

const crossing = (dimension: ReturnType<typeof dimensionsOf>[number], point: (typeof points)[number]) => crossingOf(dimension, point, variantsOf(points).of(point.case), bundlesOf(points, dimensionsOf(points)))

describe('parallel axes', () => {
  it('are those that vary', () => {
    expect(dimensionsOf(points).map(({ id }) => id)).toEqual(['op', 'impl', 'size', 'median'])
    expect(dimensionsOf(points.slice(0, 1))).toEqual([])
  })
  it('leave out what says the same as the backend', () => {
    const two = [chartPoint({ threads: undefined }, 1), chartPoint({ backend: 'cuda', impl: 'kernel', device: 'cuda:0', threads: undefined }, 2)]
    expect(dimensionsOf(two).map(({ id }) => id)).toEqual(['backend', 'median'])
  })
  it('are crossed beside their word and not far from it', () => {
    const [op] = dimensionsOf(points)
    for (const point of points) expect(Math.abs(crossing(op!, point) - (point.case.op === 'add' ? 0 : 1))).toBeLessThan(0.31)
    expect(jitter('a')).toBe(jitter('a'))
    expect(jitter('a')).not.toBe(jitter('b'))
  })
  it('have a part of each bundle for every implementation, so that none hides another', () => {
    const [op] = dimensionsOf(points)
    const places = (impl: string) => points.filter((point) => point.case.op === 'add' && point.case.impl === impl).map((point) => crossing(op!, point))
    expect(Math.max(...places('scalar'))).toBeLessThan(Math.min(...places('avx2')))
  })
  it('select what crosses every brushed interval', () => {
    const dimensions = dimensionsOf(points)
    expect(brushedIds(points, dimensions, new Map())).toEqual([])
    const ids = brushedIds(points, dimensions, new Map([['op', [[0.5, 1.5]] as [number, number][]], ['size', [[2000, 500]] as [number, number][]]]))
    expect(ids.sort()).toEqual(points.filter((p) => p.case.op === 'mul' && p.case.params['n'] === 1024).map((p) => p.id).sort())
  })
  it('keep the selected lines when there are too many', () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({ ...points[0]!, id: `p${i}` }))
    const kept = thinLines(many, new Set(['p4999']), 100)
    expect(kept.length).toBeLessThanOrEqual(101)
    expect(kept.at(-1)!.id).toBe('p4999')
    expect(drawOf(chart, many.map((p, i) => ({ ...p, medianNs: i + 1 }))).csv().trim().split('\n')).toHaveLength(5001)
  })
})
