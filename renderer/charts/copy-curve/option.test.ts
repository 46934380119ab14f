import { describe, expect, it } from 'vitest'
import { copyCurve } from '@core/roofline/ceilings'
import { testResult } from '@core/testing'
import { chartTheme } from '../drawing/theme/theme'
import { copyCurveCsv, copyCurveOption } from './option'

const theme = chartTheme('light')
const curve = copyCurve(
  ([[2 ** 16, 5e12], [2 ** 24, 6e12], [2 ** 29, 4e12]] as const).map(([bytes, value]) => {
    const medianNs = (bytes / value) * 1e9
    return {
      backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', kind: `copy:${bytes}`, value, unit: 'bytes/s' as const, measuredAt: '2026-01-01T00:00:00Z',
      result: testResult({ bytes, summary: { ...testResult().summary!, medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01 } }),
    }
  }),
)
const caches = [{ name: 'L1', bytes: 2 ** 10 }, { name: 'L2', bytes: 50 * 2 ** 20 }]

describe('copy curve', () => {
  it('draws bandwidth by working set, a line at each cache on the axis and the datasheet dashed', () => {
    const option = copyCurveOption(curve, caches, theme, '#08f', 4.8e12)!
    const line = option.series.find((one) => one.type === 'line')
    expect(line!.data).toEqual([[2 ** 16, 5e12], [2 ** 24, 6e12], [2 ** 29, 4e12]])
    expect(line!.markLine.data.map((mark) => [mark.name, 'xAxis' in mark ? mark.xAxis : mark.yAxis])).toEqual([['L2', 50 * 2 ** 20], ['datasheet 4.80 TB/s', 4.8e12]])
    expect([option.xAxis.min, option.xAxis.max]).toEqual([2 ** 16, 2 ** 29])
    expect(option.yAxis.max).toBe(7e12)
    expect(option.tooltip.formatter({ dataIndex: 1 })).toContain('16 MiB')
  })

  it('makes room for a datasheet above everything measured', () => {
    expect(copyCurveOption(curve, undefined, theme, '#08f', 2e13)!.yAxis.max).toBeGreaterThanOrEqual(2e13)
  })

  it('draws intervals, and keeps room for the curve where one is far longer', () => {
    const noisy = curve.map((point, i) => (i === 0 ? { ...point, low: 4e12, high: 4e13 } : point))
    const option = copyCurveOption(noisy, undefined, theme, '#08f')!
    const whiskers = option.series.find((one) => one.type === 'custom')!
    expect(whiskers.data[0]).toEqual([2 ** 16, 4e12, 4e13])
    expect(whiskers.data).toHaveLength(3)
    expect(option.yAxis.max).toBe(8e12)
  })

  it('is nothing with a single copy', () => {
    expect(copyCurveOption(curve.slice(0, 1), caches, theme, '#08f')).toBeUndefined()
    expect(copyCurveOption([], caches, theme, '#08f')).toBeUndefined()
  })

  it('exports every point with its interval', () => {
    const [header, first, ...rest] = copyCurveCsv(curve).trim().split('\n')
    expect(header).toBe('working_set_bytes,bytes_per_second,low_bytes_per_second,high_bytes_per_second,median_ns,samples')
    expect(first!.split(',').slice(0, 2)).toEqual(['65536', '5000000000000'])
    expect(rest).toHaveLength(2)
  })
})
