import { describe, expect, it } from 'vitest'
import { renderSvg } from '../echarts'
import { chartPoint, drawOf } from '../testing'
import { chartTheme } from '../theme'
import chart from './chart'
import { chooseBars, factorAxis, MOST_BARS, speedupOption } from './option'
import { baselineControl, speedups } from './pairs'

const theme = chartTheme('light')
const none = new Set<string>()
const points = [
  chartPoint({ impl: 'scalar' }, 400), chartPoint({ impl: 'avx2' }, 100), chartPoint({ impl: 'scalar', n: 64 }, 20), chartPoint({ impl: 'avx2', n: 64 }, 40),
  chartPoint({ backend: 'cuda', impl: 'kernel', device: 'cuda:0', threads: undefined }, 50),
]
const source = { all: points, points, others: [] }

describe('speedups', () => {
  it('set every result beside the baseline of the same case, and the baseline beside nothing', () => {
    expect(speedups(source, 'cpu scalar').map((one) => [one.variant.title, one.point.case.params['n'], one.ratio])).toEqual([['cpu avx2', 1024, 4], ['cpu avx2', 64, 0.5], ['cuda kernel', 1024, 8]])
    expect(speedups(source, 'cpu avx2').map((one) => one.ratio)).toEqual([0.25, 2, 2])
  })
  it('find the baseline though the focus leaves it out', () => {
    expect(speedups({ ...source, points: points.slice(4) }, 'cpu scalar').map((one) => one.ratio)).toEqual([8])
  })
  it('can be against another session, by the same case', () => {
    const other = { id: 'before', name: 'Before', points: [chartPoint({ impl: 'avx2' }, 150)], roofs: [], datasheets: [] }
    expect(baselineControl({ all: points, others: [other] }).options.map(({ title }) => title)).toEqual(['against Before', 'against cpu scalar', 'against cpu avx2', 'against cuda kernel'])
    expect(speedups({ ...source, others: [other] }, 'session:before').map((one) => [one.variant.title, one.ratio])).toEqual([['cpu avx2', 1.5]])
  })
  it('count a repeated case once, by its last result', () => {
    const again = { ...points[1]!, id: 'again', medianNs: 200 }
    expect(speedups({ all: [...points, again], points: [...points, again], others: [] }, 'cpu scalar').filter((one) => one.variant.title === 'cpu avx2').map((one) => one.ratio)).toContain(2)
  })
})

describe('bars', () => {
  const found = speedups(source, 'cpu scalar')
  it('are sorted by effect, or stand by operation and size', () => {
    expect(chooseBars(found, 'effect').map((one) => one.ratio)).toEqual([8, 4, 0.5])
    expect(chooseBars(found, 'operation').map((one) => one.ratio)).toEqual([0.5, 4, 8])
  })
  it('of too many show both ends, while the mean is of all', () => {
    const many = Array.from({ length: 500 }, (_, i) => ({ ...found[0]!, ratio: 1.01 ** i, point: { ...found[0]!.point, id: `p${i}` } }))
    const bars = chooseBars(many, 'effect')
    expect(bars).toHaveLength(MOST_BARS)
    expect([bars[0]!.ratio, bars.at(-1)!.ratio]).toEqual([1.01 ** 499, 1])
    expect(speedupOption(many, 'x', 'effect', theme, none, 900)!.legend.data[0]).toContain('of 500')
  })
  it('carry intervals and result, and name the geometric mean with the cases behind it', () => {
    const option = speedupOption(found, 'cpu scalar', 'effect', theme, none, 900)!
    const [ratio, row, low, high, id] = option.series[0]!.data[0]!
    expect([ratio, row, id]).toEqual([4, 1, points[1]!.id])
    expect(low).toBeLessThan(4)
    expect(high).toBeGreaterThan(4)
    expect(option.legend.data[0]).toBe('cpu avx2: geometric mean 1.41x of 2')
    expect(option.series[0]!.markLine.data.map((line) => line.xAxis)).toEqual([1, expect.closeTo(Math.SQRT2, 9)])
  })
  it('become a picture that grows with them', () => {
    const { option, height } = drawOf(chart, points)
    expect(renderSvg(option!, 900, height!)).toContain('geometric mean')
    expect(drawOf(chart, points.slice(1, 2)).empty).toContain('only cpu avx2')
  })
})

describe('the axis', () => {
  it('holds 1x and ends on round factors', () => {
    const wide = factorAxis([0.3, 42])
    expect(wide.max).toBe(50)
    expect(1 / wide.min).toBeCloseTo(5, 9)
    expect(wide.ticks).toContain(1)
    expect(factorAxis([1.01]).ticks).toEqual([1 / 1.1, 1, 1.1])
  })
})
