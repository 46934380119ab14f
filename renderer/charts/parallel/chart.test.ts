import { describe, expect, it } from 'vitest'
import { chartPoint, drawOf } from '../testing'
import { variantsOf } from '../data/variants'
import chart, { bundlesOf, crossingOf, dimensionsOf, jitter, brushedIds, marksOf, thinLines } from './chart'

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
  it('bundle the lines of one size in the same way, and keep sizes apart', () => {
    const size = dimensionsOf(points).find(({ id }) => id === 'size')!
    const places = (n: number, impl: string) => points.filter((point) => point.case.params['n'] === n && point.case.impl === impl).map((point) => crossing(size, point))
    for (const n of [64, 1024]) expect(Math.min(...places(n, 'scalar'))).toBeGreaterThan(Math.max(...places(n, 'avx2')))
    expect(Math.min(...places(1024, 'avx2'))).toBeGreaterThan(Math.max(...places(64, 'scalar')))
    expect(size.bounds!.min).toBeLessThan(Math.min(...places(64, 'avx2')))
    expect(brushedIds(points, dimensionsOf(points), new Map([['size', [[size.bounds!.min, 200]] as [number, number][]]])).length).toBe(4)
  })
  it('have a mark for each implementation in each bundle with room for it, which the legend has too', () => {
    const dimensions = dimensionsOf(points)
    const bundles = bundlesOf(points, dimensions)
    const axes = (length: number) => [...new Set(marksOf(dimensions, bundles, length).map(({ axis }) => dimensions[axis]!.id))]
    expect(axes(300)).toEqual(['op', 'impl', 'size'])
    // Only the axis on which every implementation has a place of its own.
    expect(axes(20)).toEqual(['impl'])
    for (const { y } of marksOf(dimensions, bundles, 300)) expect(y > 0 && y < 1).toBe(true)
    const { legend, series } = drawOf(chart, points).option as { legend: { data: { name: string; icon: string }[] }; series: { type: string; name: string; symbol?: string; lineStyle?: { type: unknown } }[] }
    expect(new Set(legend.data.map(({ icon }) => icon)).size).toBe(2)
    for (const { name, icon } of legend.data) expect(series.find((one) => one.type === 'scatter' && one.name === name)!.symbol).toBe(icon)
  })
  it('have lines of one colour in different dashes', () => {
    const threads = [1, 2, 4].flatMap((count) => [64, 1024].map((n) => chartPoint({ n, threads: count }, n / count)))
    const { series } = drawOf(chart, threads).option as { series: { type: string; lineStyle?: { type: unknown } }[] }
    expect(new Set(series.flatMap(({ type, lineStyle }) => (type === 'parallel' ? [String(lineStyle!.type)] : []))).size).toBe(3)
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
