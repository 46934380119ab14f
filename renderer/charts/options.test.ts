import { formatSizeTick } from '@core/units'
import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { csvTable } from '@core/csv'
import { logBounds } from './drawing/option/axes'
import { distributionCsv, distributionOption, ecdf, drawnRange, histogram } from './distribution/option'
import { renderSvg } from './drawing/page/echarts'
import { intervalText, tooltipHtml } from './drawing/option/frame'
import { levelOf } from './roofline/caches'
import rooflineChart, { intensityOf, rooflineOption } from './roofline/chart'
import { groupSeries } from './data/series'
import { chartTheme } from './drawing/theme/theme'
import { preferredRate, throughputOption } from './throughput/chart'
import { timeVsSizeCsv, timeVsSizeOption } from './time-vs-size/chart'
import { drawOf } from './testing'
import type { ChartPoint } from './data/points'
import type { Roof } from './data/roofs'

const theme = chartTheme('light')
const none = new Set<string>()
const caseOf = (over: Partial<BenchmarkCase>): BenchmarkCase => ({ op: 'add', params: { n: 1024 }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', threads: 1, ...over })
const point = (n: number, medianNs: number, over: Partial<BenchmarkCase> = {}): ChartPoint => ({
  id: `${over.op ?? 'add'}${n}${over.impl ?? ''}`, case: caseOf({ params: { n }, ...over }), medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01, bytes: 12 * n, flops: n, samples: 20, grade: 'A',
})
const roofs: Roof[] = [
  { device: 'cpu', deviceName: 'EPYC', kind: 'copy', value: 20e9, unit: 'bytes/s' },
  { device: 'cpu', deviceName: 'EPYC', kind: 'flops:f32', value: 100e9, unit: 'FLOP/s' },
]
const { series } = groupSeries([point(1024, 500), point(1048576, 600_000), point(1024, 900, { impl: 'scalar' })])

it('gives a wide interval as a plain percentage', () => {
  expect(intervalText({ medianNs: 100, ciLowNs: 20, ciHighNs: 240 })).toBe('±110 %')
  expect(intervalText({ medianNs: 100 })).toBe('–')
})

describe('axes', () => {
  it('ends on whole powers around the values', () => {
    expect(logBounds([1000, 5000], 2)).toEqual({ min: 512, max: 8192 })
    expect(logBounds([1024], 2)).toEqual({ min: 512, max: 2048 })
    expect(logBounds([NaN, 0], 10)).toBeUndefined()
  })
  it('reads powers of two', () => expect([64, 65536, 2 ** 24, 1e6].map(formatSizeTick)).toEqual(['64', '64Ki', '16Mi', '977Ki']))
})

describe('time against size', () => {
  it('gets its legend when more lines come than have room at their ends', () => {
    const of = (count: number) => timeVsSizeOption(groupSeries(Array.from({ length: count }, (_, i) => point(1024, 100 + i, { impl: `v${i}` }))).series, theme, none)!.legend
    expect([of(2).show, of(8).show]).toEqual([false, true])
  })
  it('draws every point with its interval and nothing when there are none', () => {
    expect(timeVsSizeOption([], theme, none)).toBeUndefined()
    const option = timeVsSizeOption(series, theme, none)!
    const lines = option.series.filter((s) => s.type === 'line')
    expect(lines.map((line) => line.data.map((d) => d.value.slice(0, 2)))).toEqual([[[1024, 500], [1048576, 600_000]], [[1024, 900]]])
    expect(option.series.filter((s) => s.type === 'custom').map((s) => s.data.length)).toEqual([2, 1])
  })
  it('marks the selected result', () => {
    const option = timeVsSizeOption(series, theme, new Set(['add1024']))!
    const marked = option.series.flatMap((s) => (s.type === 'line' ? s.data.filter((d) => 'symbolSize' in d) : []))
    expect(marked.map((d) => d.value[4])).toEqual(['add1024'])
  })
  it('becomes a picture with the series named at the line end', () => {
    const svg = renderSvg(timeVsSizeOption(series, theme, none)!, 900, 400)
    expect(svg).toContain('avx2')
    expect(svg).not.toContain('NaN')
  })
  it('exports its data', () => expect(timeVsSizeCsv(series).split('\n')[1]).toBe('avx2,1024,500,495,505,20'))
})

describe('throughput', () => {
  it('is bytes over median time', () => {
    const line = throughputOption(series, 'bandwidth', roofs, theme, none)!.series.find((s) => s.type === 'line')!
    expect(line.data[0]).toMatchObject({ value: [1024, (12 * 1024) / 500e-9, expect.any(Number), expect.any(Number), 'add1024'] })
  })
  it('turns the interval over: the slow end of the time is the low end of the rate', () => {
    const datum = throughputOption(series, 'bandwidth', [], theme, none)!.series.find((s) => s.type === 'line')!.data[0] as { value: number[] }
    expect(datum.value[2]).toBeLessThan(datum.value[1]!)
    expect(datum.value[3]).toBeGreaterThan(datum.value[1]!)
  })
  it('draws the roof that belongs to the rate', () => {
    const names = (rate: 'bandwidth' | 'flops') => {
      const last = throughputOption(series, rate, roofs, theme, none)!.series.at(-1) as { markLine: { data: { yAxis: number }[] } }
      return last.markLine.data.map((d) => d.yAxis)
    }
    expect(names('bandwidth')).toEqual([20e9])
    expect(names('flops')).toEqual([100e9])
  })
  it('prefers FLOP/s for compute-heavy ops only', () => {
    expect(preferredRate(series)).toBe('bandwidth')
    expect(preferredRate(groupSeries([{ ...point(1024, 1), flops: 1e6 }]).series)).toBe('flops')
  })
})

describe('roofline', () => {
  it('offers to measure missing ceilings only where the devices of the session are', () => {
    const note = (elsewhere: boolean) => drawOf(rooflineChart, [point(1024, 500)], { elsewhere }).note
    expect(note(false)).toMatchObject({ text: 'No measured roofs', action: { title: 'Measure ceilings…' } })
    expect(note(true)).toEqual({ text: 'No measured roofs', about: expect.stringContaining('Measure the ceilings on the machine of the session') as string })
  })

  it('places a result at its intensity and rate under the roof', () => {
    const option = rooflineOption([{ name: 'one', series, roofs, datasheets: [] }], theme, none)!
    const scatter = option.series.find((s) => s.type === 'scatter')!
    expect((scatter.data[0] as { value: number[] }).value.slice(0, 2)).toEqual([1 / 12, (1024 / 500) * 1e9])
    const roof = option.series.find((s) => s.type === 'line')!
    expect(roof.data[1]).toEqual([5, 100e9])
  })
  it('draws what the datasheet promises as dashed lines, once for a card with two backends', () => {
    const two = groupSeries([point(1024, 500), point(1024, 700, { backend: 'webgpu', device: 'webgpu:0' })]).series
    const twice = (list: readonly Roof[]) => [...list, ...list.map((roof) => ({ ...roof, device: 'webgpu:0' }))]
    const published = roofs.map((roof) => ({ ...roof, value: roof.value * 2 }))
    const dashed = (option: NonNullable<ReturnType<typeof rooflineOption>>) => option.series.filter((s) => 'lineStyle' in s && s.lineStyle !== undefined && 'type' in s.lineStyle && s.lineStyle.type === 'dashed')
    const option = rooflineOption([{ name: 'one', series: two, roofs: twice(roofs), datasheets: twice(published) }], theme, none)!
    expect(dashed(option).map((s) => s.data[1])).toEqual([[5, 200e9]])
    expect(option.yAxis.max).toBeGreaterThanOrEqual(200e9)
    expect(dashed(rooflineOption([{ name: 'one', series: two, roofs: twice(roofs), datasheets: [] }], theme, none)!)).toEqual([])
  })
  it('names published peaks where none was measured', () => {
    const svg = renderSvg(rooflineOption([{ name: 'one', series, roofs: [], datasheets: roofs }], theme, none)!, 900, 400)
    expect(svg).toContain('EPYC f32 datasheet 100 GFLOP/s')
    expect(svg).toContain('datasheet 20.0 GB/s')
  })
  it('draws sessions over each other: hollow marks, roofs they share once, those of another card beside them', () => {
    const other = groupSeries([point(1024, 250)]).series.map((one) => ({ ...one, key: `before|${one.key}`, layer: 1 }))
    const layers = (theirs: readonly Roof[]) => [{ name: 'now', series, roofs, datasheets: [] }, { name: 'before', series: other, roofs: theirs, datasheets: [] }]
    const lines = (theirs: readonly Roof[]) => rooflineOption(layers(theirs), theme, none)!.series.filter((s) => 'id' in s && String(s.id).startsWith('roof|')).length
    expect(lines(roofs)).toBe(1)
    expect(lines(roofs.map((roof) => ({ ...roof, deviceName: 'Xeon', value: roof.value * 2 })))).toBe(2)
    const marks = rooflineOption(layers(roofs), theme, none)!.series.filter((s) => s.type === 'scatter').map((s) => (s as { itemStyle: { color: string } }).itemStyle.color)
    expect(marks.filter((color) => color === theme.surface)).toHaveLength(1)
  })
  it('draws the bandwidths of caches, and says from which level a result must have come', () => {
    const caches: Roof[] = [{ device: 'cpu', deviceName: 'EPYC', kind: 'L3', value: 60e9, unit: 'bytes/s' }, { device: 'cpu', deviceName: 'EPYC', kind: 'L2', value: 200e9, unit: 'bytes/s' }]
    const option = rooflineOption([{ name: 'one', series, roofs, datasheets: [], caches }], theme, none)!
    expect(option.series.flatMap((s) => ('id' in s && String(s.id).startsWith('cache|') ? [[s.id, s.data[1]]] : []))).toEqual([['cache|cpu||L3', [100 / 60, 100e9]], ['cache|cpu||L2', [0.5, 100e9]]])
    expect(renderSvg(option, 900, 400)).toContain('L3 60.0 GB/s')
    const level = (bandwidth: number) => levelOf({ ...point(1024, (12 * 1024 / bandwidth) * 1e9) }, 20e9, caches)
    expect([10e9, 40e9, 100e9, 500e9].map(level)).toEqual(['within what memory delivers', 'L3 or closer: above what memory delivers', 'L2 or closer: above what memory delivers', 'closer than L2'])
    expect(levelOf(point(1024, 500), 20e9, [])).toBeUndefined()
  })
  it('draws the caches of the level and thread count whose roofs are drawn, not those of all threads', () => {
    const choice = { impl: 'avx2', threads: 1 }
    const of = (kind: string, value: number, unit: Roof['unit'], own?: Roof['choice']): Roof => ({ device: 'cpu', deviceName: 'EPYC', kind, value, unit, ...(own ? { choice: own } : {}) })
    const both = [of('copy', 20e9, 'bytes/s'), of('flops:f32', 100e9, 'FLOP/s'), of('copy', 12e9, 'bytes/s', choice), of('flops:f32', 50e9, 'FLOP/s', choice)]
    const caches = [of('L2', 200e9, 'bytes/s'), of('L2', 100e9, 'bytes/s', choice)]
    const lines = (...threads: number[]) => {
      const drawn = groupSeries(threads.map((count) => ({ ...point(1024 * count, 250), case: { ...point(1024 * count, 250).case, impl: 'avx2', threads: count } }))).series
      return rooflineOption([{ name: 'one', series: drawn, roofs: both, datasheets: [], caches }], theme, none)!.series.flatMap((s) => ('id' in s && String(s.id).startsWith('cache|') ? [s.id] : []))
    }
    expect(lines(1)).toEqual(['cache|cpu|avx2, 1 thread|L2'])
    expect(lines(2)).toEqual(['cache|cpu||L2'])
    expect(lines(1, 2)).toEqual(['cache|cpu||L2'])
  })
  it('has no place for ops without arithmetic', () => {
    const copies = groupSeries([{ ...point(64, 10), flops: 0 }]).series
    expect(intensityOf(copies[0]!.points[0]!.point)).toBe(0)
    expect(rooflineOption([{ name: 'one', series: copies, roofs, datasheets: [] }], theme, none)).toBeUndefined()
  })
})

describe('distribution', () => {
  it('counts every sample once', () => {
    const samples = Array.from({ length: 500 }, (_, i) => 100 + (i % 37))
    expect(histogram(samples)!.counts.reduce((a, b) => a + b)).toBe(500)
    expect(histogram([5, 5, 5])!.counts).toEqual([3])
    expect(histogram([])).toBeUndefined()
  })
  it('rises to one', () => expect(ecdf([3, 1, 2])).toEqual([[1, 1 / 3], [2, 2 / 3], [3, 1]]))
  it('counts hiccups instead of drawing all others as one spike', () => {
    const samples = [...Array.from({ length: 100 }, (_, i) => 100 + (i % 10)), 5000]
    expect(drawnRange(samples)).toMatchObject({ low: 100, outside: 1 })
    expect(drawnRange(samples).high).toBeLessThan(200)
    expect(drawnRange([7, 7, 7, 9])).toEqual({ low: 7, high: 9, outside: 0 })
    expect(renderSvg(distributionOption(samples, undefined, '#123456', theme)!, 900, 300)).toContain('1 of 101 samples lie further out')
  })
  it('tells neighbouring ticks of a narrow distribution apart', () => {
    const option = distributionOption(Array.from({ length: 50 }, (_, i) => 1760 + (i % 10)), undefined, '#123456', theme)!
    const { formatter } = option.xAxis[0]!.axisLabel as { formatter: (ns: number) => string }
    expect(new Set([1762, 1764, 1766].map(formatter)).size).toBe(3)
  })
  it('marks median and interval', () => {
    const svg = renderSvg(distributionOption([100, 110, 120, 130], { medianNs: 115, ciLowNs: 105, ciHighNs: 125 }, '#123456', theme)!, 900, 300)
    expect(svg).toContain('median 115')
  })
  describe('with samples taken under bad conditions', () => {
    const samples = Array.from({ length: 20 }, (_, i) => (i === 4 ? 160 : 100 + (i % 5)))
    const conditions = {
      labels: [{ kind: 'slow-clock' as const, reason: '1200 of 1980 MHz', first: 4, count: 1 }, { kind: 'throttled' as const, reason: 'power limit', first: 8, count: 2 }],
      clocksMhz: samples.map((ns) => (ns === 160 ? 1200 : 1980)),
    }
    const option = distributionOption(samples, undefined, '#123456', theme, conditions)!
    const dataOf = (id: string) => option.series.find((series) => series.id === id)!.data as number[][]

    it('marks them by kind, names the marks, and draws every sample once', () => {
      expect(dataOf('label slow-clock')).toEqual([[4, 160]])
      expect(dataOf('label throttled').map(([i]) => i)).toEqual([8, 9])
      expect(dataOf('order')).toHaveLength(17)
      const svg = renderSvg(option, 900, 300)
      for (const name of ['clock low', 'throttled', 'SM clock', '2000 MHz']) expect(svg).toContain(name)
    })
    it('counts in the histogram what the statistics count', () => {
      expect((dataOf('histogram') as [number, number, number][]).reduce((sum, [, , count]) => sum + count, 0)).toBe(17)
    })
    it('has no legend and no second axis where all is calm', () => {
      const calm = distributionOption(samples, undefined, '#123456', theme)!
      expect(calm.legend.show).toBe(false)
      expect(calm.series.map((series) => series.id)).toEqual(['histogram', 'ecdf', 'order'])
    })
    it('exports label and clock beside each sample', () => {
      const lines = distributionCsv(samples, conditions).split('\n')
      expect(lines[0]).toBe('sample,ns,labels,clock_mhz')
      expect(lines[5]).toBe('4,160,slow-clock,1200')
      expect(distributionCsv([1, 2])).toBe('sample,ns\n0,1\n1,2\n')
    })
  })
})

describe('what leaves a chart', () => {
  it('shows markup as text', () => expect(tooltipHtml('<img src=x>', [['a', '<b>']])).not.toMatch(/<img|<b>/))
  it('disarms formulas and quotes cells', () => expect(csvTable(['a'], [['=1+1'], ['x,"y"'], [undefined], [NaN]])).toBe('a\n"\'=1+1"\n"x,""y"""\n\n\n'))
})
