import { expect, it } from 'vitest'
import { thinSeries } from './layers'
import { describe as describeCase, type ChartSeries } from './series'

const line = (count: number, nsOf: (i: number) => number): ChartSeries => ({
  key: 'k', label: 'l', op: 'add', backend: 'cpu', impl: 'avx2', symbol: 'circle', dash: 'solid', naming: ['op'],
  facets: describeCase({ op: 'add', params: { n: 1 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot' }).facets,
  points: Array.from({ length: count }, (_, i) => ({
    size: i + 1,
    point: { id: `p${i}`, case: { op: 'add', params: { n: i + 1 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot' }, medianNs: nsOf(i), bytes: 1, flops: 1, samples: 1 },
  })),
})

it('leaves what can be drawn as it is', () => {
  const series = [line(50, (i) => i)]
  expect(thinSeries(series, new Set(), 100)).toEqual({ series, hidden: 0 })
})

it('keeps the ends, every spike and what is selected, in order of size', () => {
  const { series, hidden } = thinSeries([line(20_000, (i) => (i === 7777 ? 9000 : i === 12_345 ? 1 : 100 + (i % 7)))], new Set(['p4001']), 400)
  const ids = series[0]!.points.map(({ point }) => point.id)
  expect(ids.length).toBeLessThanOrEqual(401)
  expect(ids.length + hidden).toBe(20_000)
  expect(ids).toEqual(expect.arrayContaining(['p0', 'p7777', 'p12345', 'p4001', 'p19999']))
  expect(series[0]!.points.map(({ size }) => size)).toEqual(series[0]!.points.map(({ size }) => size).sort((a, b) => a - b))
})
