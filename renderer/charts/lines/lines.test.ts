import { describe, expect, it } from 'vitest'
import { renderSvg } from '../drawing/page/echarts'
import { chartPoint, drawOf } from '../testing'
import throughput from '../throughput/chart'
import time from '../time-vs-size/chart'

const IMPLS = ['scalar', 'sse2', 'avx2'] as const
const points = ['add', 'mul', 'exp'].flatMap((op, i) => IMPLS.flatMap((impl, j) => [64, 1024, 16384].map((n) => chartPoint({ op, impl, n }, (n * (i + 1)) / (j + 1)))))
const few = points.filter((point) => point.case.op === 'add')
type Axis = { type: string; min?: number; max?: number }
const optionOf = (of: typeof time | typeof throughput, from: typeof points, values: Record<string, string> = {}) => drawOf(of, from, { values }).option as unknown as { grid: object | object[]; title: { text: string }[]; xAxis: Axis | Axis[]; yAxis: Axis | Axis[]; series: { type: string; id: string; name?: string; xAxisIndex?: number; data: { value: number[] }[]; endLabel?: { show: boolean }; markLine?: { data: { yAxis: number; name: string; lineStyle: { type: string } }[] } }[] }

describe('lines against size', () => {
  it('are one plot with direct labels while they can be told apart', () => {
    const option = optionOf(time, few)
    expect(Array.isArray(option.grid)).toBe(false)
    expect(option.series.filter(({ type }) => type === 'line').map(({ endLabel }) => endLabel?.show)).toEqual([true, true, true])
  })

  it('are small multiples by operation beyond that, on one scale, named in one legend', () => {
    const option = optionOf(time, points)
    expect(option.grid).toHaveLength(3)
    expect(option.title.slice(1).map(({ text }) => text)).toEqual(['add', 'mul', 'exp'])
    expect(new Set((option.yAxis as Axis[]).map(({ min, max }) => `${min} ${max}`)).size).toBe(1)
    const lines = option.series.filter(({ type }) => type === 'line')
    expect(new Set(lines.map(({ name }) => name))).toEqual(new Set(IMPLS))
    expect([0, 1, 2].map((at) => lines.filter(({ xAxisIndex }) => xAxisIndex === at).length)).toEqual([3, 3, 3])
    const svg = renderSvg(option as never, 900, 300)
    expect(svg).toContain('Median time per call, against size')
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('scroll by whole rows, each with its titles and axes, in a pane that shows one row at a time', () => {
    const { option, height, rowHeight } = drawOf(time, points, { size: { width: 400, height: 300 } })
    const { grid, title } = option as unknown as { grid: { top: number; height: number }[]; title: { top: number }[] }
    expect(height! - rowHeight! * grid.length).toBeGreaterThan(0)
    const above = height! - rowHeight! * grid.length
    expect(above + rowHeight!).toBeCloseTo(300)
    for (const [i, { top, height: plot }] of grid.entries()) {
      // What is seen of the pane when it has scrolled by so many rows, below the legend that stays.
      const [from, to] = [i * rowHeight! + above, i * rowHeight! + 300]
      expect(title[i + 1]!.top).toBeGreaterThanOrEqual(from)
      expect(top + plot).toBeLessThan(to)
    }
  })

  it('are lower in a pane that has no room for a row of usual height, so that the axis below a row is in sight', () => {
    const heightIn = (height: number) => drawOf(time, points, { size: { width: 400, height } })
    for (const height of [240, 260, 280]) {
      const { rowHeight, height: all, option } = heightIn(height)
      const above = all! - 3 * rowHeight!
      expect(above + rowHeight!).toBeCloseTo(height)
      const [first] = (option as unknown as { grid: { top: number; height: number }[] }).grid
      expect(first!.top + first!.height).toBeLessThan(height - 20)
    }
    // Below that it scrolls.
    expect(heightIn(120).rowHeight).toBe(180)
  })

  it('can be linear', () => {
    expect((optionOf(time, few).yAxis as Axis).type).toBe('log')
    expect(optionOf(time, few, { scale: 'linear' }).yAxis).toMatchObject({ type: 'value', min: 0 })
    expect(optionOf(throughput, few, { scale: 'log' }).yAxis).toMatchObject({ type: 'log' })
  })

  it.each([time, throughput])('can be over a baseline, which is 1 at every size: %#', (unit) => {
    const option = optionOf(unit, few, { values: 'cpu avx2' })
    const ratios = Object.fromEntries(option.series.filter(({ type, name }) => type === 'line' && name).map(({ name, data }) => [name, data.map(({ value }) => Number(value[1]!.toFixed(3)))]))
    expect(ratios).toEqual({ scalar: [0.333, 0.333, 0.333], sse2: [0.667, 0.667, 0.667], avx2: [1, 1, 1] })
    expect(renderSvg(option as never, 900, 300)).toContain('Speedup over cpu avx2')
  })

  it('throughput has measured ceilings dashed and published ones dotted', () => {
    const roof = { device: 'cpu', deviceName: 'EPYC', kind: 'copy', value: 20e9, unit: 'bytes/s' as const }
    const { option } = drawOf(throughput, few, { roofs: [roof], datasheets: [{ ...roof, value: 40e9 }] })
    const levels = (option as unknown as ReturnType<typeof optionOf>).series.at(-1)!.markLine!.data
    expect(levels.map(({ yAxis, name, lineStyle }) => [yAxis, name, lineStyle.type])).toEqual([[20e9, 'EPYC copy 20.0 GB/s (measured)', 'dashed'], [40e9, 'EPYC copy 40.0 GB/s (datasheet)', 'dotted']])
  })
})
