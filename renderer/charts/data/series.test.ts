import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { groupSeries } from './series'
import type { ChartPoint } from './points'

const caseOf = (over: Partial<BenchmarkCase>): BenchmarkCase => ({
  op: 'add', params: { n: 1024 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', threads: 1, ...over,
})
const point = (over: Partial<BenchmarkCase>, medianNs = 100, id = JSON.stringify(over)): ChartPoint => ({
  id, case: caseOf(over), medianNs, bytes: 12, flops: 1, samples: 10,
})

describe('groupSeries', () => {
  it('joins sizes of one configuration, in order of size', () => {
    const { series } = groupSeries([point({ params: { n: 4096 } }), point({ params: { n: 64 } }), point({ params: { n: 1024 } })])
    expect(series).toHaveLength(1)
    expect(series[0]!.points.map((p) => p.size)).toEqual([64, 1024, 4096])
  })

  it('names series by what differs and nothing else', () => {
    const { series } = groupSeries([point({ impl: 'avx2' }), point({ impl: 'scalar' }), point({ backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', threads: undefined })])
    expect(series.map((s) => s.label)).toEqual(['cpu · avx2', 'cpu · scalar', 'webgpu · wgsl'])
  })

  it('names a single series by op and backend', () => {
    expect(groupSeries([point({})]).series[0]!.label).toBe('add · cpu')
  })

  it('gives every op its own mark and every mode its own line', () => {
    const { series } = groupSeries([point({ mode: 'hot' }), point({ mode: 'cold' }), point({ op: 'mul' })])
    expect(new Set(series.map((s) => s.symbol)).size).toBe(2)
    expect(series[0]!.dash).not.toBe(series[1]!.dash)
  })

  it('keeps the newer of two results of the same case', () => {
    const { series } = groupSeries([point({}, 100, 'old'), point({}, 90, 'new')])
    expect(series[0]!.points.map((p) => p.point.id)).toEqual(['new'])
  })

  it('says how many series it leaves out', () => {
    const points = Array.from({ length: 30 }, (_, i) => point({ impl: `impl${i}` }))
    const { series, omitted } = groupSeries(points, 24)
    expect([series.length, omitted]).toEqual([24, 6])
  })

  it('leaves out what has no time', () => {
    expect(groupSeries([point({}, NaN)]).series).toEqual([])
  })
})
