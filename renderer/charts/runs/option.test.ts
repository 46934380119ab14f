import { describe, expect, it } from 'vitest'
import { caseRuns, type Run } from '@core/analysis/case-runs'
import { chartTheme } from '../drawing/theme/theme'
import { runsCsv, runsOption, runsText } from './option'

const theme = chartTheme('light')
const runs: Run[] = [{ id: 'a', medianNs: 1000, ciLowNs: 998, ciHighNs: 1003 }, { id: 'b', medianNs: 1010 }, { id: 'c', medianNs: 1004, ciLowNs: 1003, ciHighNs: 1005 }]
const over = caseRuns(runs)!
const option = runsOption(over, theme, '#08f', 'c')
const [points, intervals] = option.series as unknown as [{ data: { value: unknown[]; symbolSize?: number }[]; markArea: { data: { yAxis: number }[][] }; markLine: { data: { yAxis: number }[] } }, { data: number[][] }]

describe('the runs of a case', () => {
  it('stand in the order taken with their own intervals, over the band of the interval over runs', () => {
    expect(points.data.map(({ value }) => value)).toEqual([[1, 1000, 'a'], [2, 1010, 'b'], [3, 1004, 'c']])
    expect(intervals.data).toEqual([[1, 998, 1003], [3, 1003, 1005]])
    expect(points.markArea.data[0]!.map(({ yAxis }) => yAxis)).toEqual([over.interval.low, over.interval.high])
    expect(points.markLine.data).toEqual([{ yAxis: 1004 }])
    expect(option.yAxis.min).toBeLessThan(over.interval.low)
    expect(option.yAxis.max).toBeGreaterThan(over.interval.high)
  })

  it('ring the open one, and tell each on hover', () => {
    expect(points.data.map(({ symbolSize }) => symbolSize)).toEqual([undefined, undefined, 10])
    expect(option.tooltip.formatter({ value: [1, 1000, 'a'] })).toMatch(/Run 1 of 3.*1\.00 µs.*±0\.25 %/s)
    expect(option.tooltip.formatter({ value: [2, 1010, 'b'] })).toContain('–')
  })

  it('label few whole numbers, however many there are', () => {
    const many = runsOption(caseRuns(Array.from({ length: 50 }, (_, i) => ({ id: `${i}`, medianNs: 100 + (i % 5) })))!, theme, '#08f')
    expect(many.xAxis.axisLabel.customValues).toEqual([1, 8, 15, 22, 29, 36, 43, 50])
  })

  it('are there in words and as data', () => {
    expect(runsText(over)).toMatch(/^Medians of 3 runs in the order taken: 1\.00 µs, 1\.01 µs, 1\.00 µs\. Their median is 1\.00 µs, its 95 % CI /)
    expect(runsCsv(over).split('\n').slice(0, 3)).toEqual(['run,result,median_ns,ci_low_ns,ci_high_ns', '1,a,1000,998,1003', '2,b,1010,,'])
  })

  it('equal to the digit, still have an axis', () => {
    const flat = runsOption(caseRuns(runs.map(({ id }) => ({ id, medianNs: 50 })))!, theme, '#08f')
    expect(flat.yAxis.max).toBeGreaterThan(flat.yAxis.min)
  })
})
