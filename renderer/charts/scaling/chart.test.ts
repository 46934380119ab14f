import { describe, expect, it } from 'vitest'
import { chartPoint, drawOf } from '../testing'
import chart, { scalingCsv } from './chart'
import { alongOf, scalable, scaleSeries } from './series'

const threads = [1, 2, 4].flatMap((t) => [chartPoint({ threads: t, impl: 'scalar' }, 400 / t), chartPoint({ threads: t, impl: 'avx2' }, 100 / Math.sqrt(t))])
const batch = [64, 256].map((rows) => chartPoint({ op: 'softmax', params: { rows, cols: 128 }, n: rows * 128 }, rows === 64 ? 100 : 200))

describe('scaling', () => {
  it('has a series for each case at several thread counts, told apart without the threads', () => {
    const { series } = scaleSeries(threads, 'threads', 10)
    expect(series.map((one) => one.label)).toEqual(['scalar', 'avx2'])
    expect(series[1]!.points.map((point) => point.efficiency)).toEqual([1, expect.closeTo(Math.SQRT1_2, 9), 0.5])
  })
  it('looks along rows where no threads vary, keeping the row length', () => {
    expect(alongOf(batch, undefined)).toBe('rows')
    expect(alongOf(threads, undefined)).toBe('threads')
    expect(alongOf(threads, 'rows')).toBe('rows')
    const [one] = scaleSeries(batch, 'rows', 10).series
    expect(one!.label).toBe('cols 128')
    expect(one!.points.map((point) => [point.timing.at, point.gain.ratio])).toEqual([[64, 1], [256, 2]])
  })
  it('leaves out what stands at one place', () => {
    expect(scalable([...threads, ...batch], 'threads')).toHaveLength(6)
    expect(scalable([chartPoint({ threads: 4 }, 1)], 'threads')).toEqual([])
  })
  it('draws two plots, or says what to measure', () => {
    const { option } = drawOf(chart, threads)
    expect((option!['series'] as { id: string }[]).map((one) => one.id)).toContain('ideal gain')
    expect(drawOf(chart, threads.slice(0, 2), { values: { along: 'threads' } }).empty).toContain('thread counts')
  })
  it('writes gains below 1 as fractions, which fit beside the plot', () => {
    const slower = [1, 2].map((t) => chartPoint({ threads: t }, 100 * 64 ** (t - 1)))
    const { option } = drawOf(chart, slower, { values: { along: 'threads' } })
    const [{ axisLabel, min }] = option!['yAxis'] as [{ axisLabel: { formatter(value: number): string; customValues: number[] }; min: number }]
    expect(axisLabel.customValues).toContain(1)
    expect(min).toBeLessThanOrEqual(1 / 64)
    expect([1 / 64, 0.5, 1, 8].map(axisLabel.formatter)).toEqual(['1/64x', '1/2x', '1x', '8x'])
  })
  it('says how many series it leaves out, and exports them', () => {
    const many = Array.from({ length: 12 }, (_, i) => [1, 2].map((t) => chartPoint({ threads: t, n: 64 * (i + 1) }, 100))).flat()
    const { note, csv } = drawOf(chart, many, { values: { along: 'threads' } })
    expect(note!.text).toBe('Largest 10 of 12 series')
    expect(csv().trim().split('\n')).toHaveLength(25)
    expect(scalingCsv(scaleSeries(many, 'threads', 1).series, 'threads').split('\n')[0]).toBe('series,threads,gain,low,high,ideal,efficiency,median_ns')
  })
})
