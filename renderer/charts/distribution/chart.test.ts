import { describe, expect, it } from 'vitest'
import { testResult } from '@core/testing'
import { renderSvg } from '../drawing/page/echarts'
import { drawOf } from '../testing'
import { chartTheme } from '../drawing/theme/theme'
import chart, { overlayCsv, overlayOption, preferredScale } from './chart'
import { conditionMarks, readingAxis, readingsOf } from './conditions'

const theme = chartTheme('light')
const resultOf = (id: string, middle: number) => {
  const base = testResult()
  const samplesNs = Array.from({ length: 40 }, (_, i) => middle * (1 + (i % 10) / 100))
  return { ...base, id, samplesNs, summary: { count: 40, medianNs: middle * 1.045, minNs: middle, maxNs: middle * 1.09, meanNs: middle * 1.045, mildOutliers: 0, severeOutliers: 0 } }
}
const near = [resultOf('a', 100), resultOf('b', 110)]

describe('several distributions', () => {
  it('are drawn on one scale, each three times', () => {
    const option = overlayOption(near.map((result) => ({ label: result.id, result })), 'time', theme, 900)!
    expect(option.series.map((series) => series.id)).toEqual(['a|0', 'a|1', 'a|2', 'b|0', 'b|1', 'b|2'])
    expect(renderSvg(option, 900, 300)).toContain('At or below')
    // Each outline holds all of its samples: the shares of its bins add up to one.
    const outline = option.series[0]!.data as [number, number][]
    const shares = outline.slice(1, -1).filter((_, i) => i % 2 === 0).map(([, share]) => share)
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 9)
  })
  it('tell apart what has the same colour', () => {
    const option = overlayOption(near.map((result) => ({ label: result.id, result })), 'time', theme, 900)!
    const dash = (i: number) => (option.series[i] as { lineStyle: { type: unknown } }).lineStyle.type
    expect(dash(0)).not.toEqual(dash(3))
  })
  it('are relative to their medians where those lie far apart', () => {
    expect(preferredScale(near)).toBe('time')
    expect(preferredScale([near[0]!, resultOf('c', 1000)])).toBe('relative')
    const option = overlayOption([near[0]!, resultOf('c', 1000)].map((result) => ({ label: result.id, result })), 'relative', theme, 900)!
    expect(option.xAxis[0]!.min).toBeGreaterThan(-0.1)
    expect(option.xAxis[0]!.max).toBeLessThan(0.1)
  })
  it('export every sample', () => expect(overlayCsv([{ label: 'x', result: near[0]! }]).trim().split('\n')).toHaveLength(41))
  it('need samples', () => expect(overlayOption([{ label: 'x', result: { ...near[0]!, samplesNs: [] } }], 'time', theme, 900)).toBeUndefined())
})

describe('the chart', () => {
  it('asks for the last selected results, or for the last measured', () => {
    const ids = Array.from({ length: 9 }, (_, i) => `r${i}`)
    expect(chart.samples({ points: [], selected: new Set(ids) })).toEqual(ids.slice(-6))
    expect(chart.samples({ points: [], selected: new Set() })).toEqual([])
  })
  it('names a case that was measured twice, twice', () => {
    const { csv } = drawOf(chart, [], { results: near, selected: new Set(['a', 'b']) })
    expect(new Set(csv().trim().split('\n').slice(1).map((line) => line.split(',')[0])).size).toBe(2)
  })
})

describe('readings beside samples', () => {
  it('hold from one state of the device to the next', () => {
    const deviceStates = [{ firstSample: 0, state: { temperatureC: 40, powerW: 300 } }, { firstSample: 20, state: { temperatureC: 44 } }]
    const readings = readingsOf({ deviceStates, clocksMhz: [1980, 0, 1965] }, 40)
    expect(readings.map(({ id, points, step }) => [id, points, step])).toEqual([
      ['clock', [[0, 1980], [2, 1965]], 'middle'],
      ['temperature', [[0, 40], [20, 44], [39, 44]], 'end'],
      ['power', [[0, 300], [39, 300]], 'end'],
    ])
    expect(readingsOf({}, 40)).toEqual([])
  })
})

it('names the speed probe as the details do, with its times in a unit that suits them', () => {
  const marks = conditionMarks([100, 110], { probesNs: [3000, 400_000] })
  expect(marks.reading!.name).toBe('CPU speed probe')
  const { formatter } = readingAxis(marks, theme).axisLabel
  expect([0, 2000, 400_000].map(formatter)).toEqual(['', '2.00 µs', '400 µs'])
})
