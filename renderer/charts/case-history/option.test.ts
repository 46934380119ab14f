import { describe, expect, it } from 'vitest'
import type { CasePoint } from '@core/analysis/case-history'
import { changePoints, type Changes } from '@core/analysis/change-points'
import { chartTheme } from '../drawing/theme/theme'
import { caseHistoryCsv, caseHistoryOption, axisRange, type Extent } from './option'

const theme = chartTheme('light')
const point = (day: number, medianNs: number, change: Partial<CasePoint> = {}): CasePoint => ({
  sessionId: `s${day}`, name: `Night ${day}`, createdAt: `2026-03-${String(day).padStart(2, '0')}T12:00:00Z`, resultId: `r${day}`, medianNs, ciLowNs: medianNs * 0.995, ciHighNs: medianNs * 1.005, grade: 'A', results: 1, place: [['Machine', 'bench'], ['Driver', day < 9 ? '560' : '570']], ...change,
})
const points = [...Array.from({ length: 8 }, (_, i) => point(i + 1, 999 + (i % 3))), ...Array.from({ length: 6 }, (_, i) => point(i + 9, 1099 + (i % 3)))]
points[3] = point(4, 5000, { grade: 'C' })
const changes = changePoints(points, 0.01)
const option = caseHistoryOption(points, changes, theme, '#08f', new Set(['s2']))!
const series = <Datum = unknown>(id: string) => option.series.find((one) => 'id' in one && one.id === id) as unknown as { data: Datum[] }

describe('the history of a case', () => {
  it('draws every session at its time with its interval', () => {
    const values = series<number>('medians').data
    expect([...values.slice(0, 5)]).toEqual([Date.parse('2026-03-01T12:00:00Z'), 999, 999 * 0.995, 999 * 1.005, 0])
    expect(values).toHaveLength(14 * 5)
    expect((option.series.at(-1) as { data: unknown[] }).data).toHaveLength(14)
    expect(option.yAxis.min).toBeLessThan(995)
    expect(option.yAxis.max).toBeGreaterThan(1107)
  })

  it('marks each change with its size and day, levels on both sides, and where the environment changed', () => {
    const { markLine } = series('path') as unknown as { markLine: { data: { name: string; xAxis: number }[] } }
    expect(markLine.data.map(({ name, xAxis }) => [name.replace('\n', ' '), new Date(xAxis).getUTCDate()])).toEqual([['+10.0 % 9 Mar 2026', 9], ['Driver', 9]])
    const levels = option.series.filter(({ name }) => name === 'Level') as unknown as { data: [number, number][] }[]
    expect(levels.map(({ data }) => Math.round(data[0]![1] / 10))).toEqual([100, 110])
  })

  it('names the day where all sessions are of one, and writes an interval as the table does', () => {
    const night = [0, 1, 2].map((i) => point(5, 1000, { createdAt: `2026-03-05T12:0${i}:00Z` }))
    expect(caseHistoryOption(night, changePoints(night, 0.01), theme, '#08f')!.xAxis.name).toBe('Time of the session, 5 Mar 2026')
    expect(option.xAxis.name).toBe('Date of the session')
    expect(option.tooltip.formatter({ value: [0, 0, 0, 0, 0] })).toContain('(±0.50 %)')
  })

  it('draws outliers and grade C hollow, what is picked ringed', () => {
    const { data } = series<{ value: unknown[]; itemStyle: { color: string; borderWidth?: number }; symbolSize: number }>('marked')
    expect(data.map(({ value }) => value.at(-1))).toEqual([1, 3])
    expect(data[0]).toMatchObject({ symbolSize: 12, itemStyle: { borderWidth: 2 } })
    expect(data[1]!.itemStyle.color).toBe(theme.surface)
    expect(series('medians')).toMatchObject({ symbolSize: 7, itemStyle: { color: '#08f' }, large: false })
  })

  it('draws what lies far beyond the others as an arrow at the edge with its value', () => {
    expect(option.yAxis.max).toBeLessThan(1200)
    const arrows = (all: typeof option) => (all.series.find((one) => 'id' in one && one.id === 'beyond') as { data: { value: unknown[]; symbolRotate: number; label: { formatter: string } }[] }).data
    expect(arrows(option)).toMatchObject([{ value: [Date.parse('2026-03-04T12:00:00Z'), option.yAxis.max, expect.anything(), expect.anything(), 3], symbolRotate: 0, label: { formatter: '5.00 µs', position: 'right' } }])
    const fast = points.map((one, i) => (i === 3 ? point(4, 50) : one))
    const below = caseHistoryOption(fast, changePoints(fast, 0.01), theme, '#08f')!
    expect(arrows(below)).toMatchObject([{ value: [expect.anything(), below.yAxis.min, expect.anything(), expect.anything(), 3], symbolRotate: 180, label: { formatter: '50.0 ns' } }])
    expect(option.tooltip.formatter({ value: arrows(option)[0]!.value as never })).toMatch(/5\.00 µs.*Beyond the axis/s)
  })

  it('tells all of a session on hover, names escaped', () => {
    const tip = (i: number) => {
      return option.tooltip.formatter({ value: [0, 0, 0, 0, i] })
    }
    expect(tip(8)).toMatch(/Night 9.*Change here.*\+10\.0.*Driver: 560 → 570/s)
    expect(tip(3)).toContain('Outlier: not counted')
    const evil = caseHistoryOption([point(1, 5, { name: '<img src=x>' })], changePoints([], 0.01), theme, '#08f')!
    expect(evil.tooltip.formatter({ value: [0, 5, 1, 9, 0] })).not.toContain('<img')
  })

  it('draws a single session without interval, and nothing without one', () => {
    const { ciLowNs: _low, ciHighNs: _high, ...bare } = point(1, 1000)
    const none = { changes: [], segments: [], outliers: [] }
    expect(caseHistoryOption([bare], none, theme, '#08f')!.yAxis.max).toBeGreaterThan(1000)
    expect(caseHistoryOption([], none, theme, '#08f')).toBeUndefined()
  })

  it('paints thousands of sessions at once, their intervals as one line from low to high of each', () => {
    const many: CasePoint[] = Array.from({ length: 400 }, (_, i) => ({ ...point(1, 1000 + (i % 3)), sessionId: `m${i}`, createdAt: new Date(Date.UTC(2026, 0, 1 + i)).toISOString() }))
    const { ciLowNs: _low, ciHighNs: _high, ...bare } = many[7]!
    many[7] = bare
    const drawn = caseHistoryOption(many, changePoints(many, 0.01), theme, '#08f')!.series
    expect(drawn.find((one) => one.id === 'medians')).toMatchObject({ large: true })
    const intervals = drawn.at(-1) as unknown as { type: string; showSymbol: boolean; data: Float64Array }
    expect(intervals).toMatchObject({ type: 'line', showSymbol: false })
    expect(intervals.data).toHaveLength(399 * 6)
    const x = Date.UTC(2026, 0, 2)
    expect([...intervals.data.slice(6, 12)]).toEqual([x, 1001 * 0.995, x, 1001 * 1.005, x, NaN])
  })

  it('exports every session with its place', () => {
    const lines = caseHistoryCsv(points, changes).trim().split('\n')
    expect(lines[0]).toBe('session_id,session,created_at,median_ns,ci_low_ns,ci_high_ns,grade,results,change_ratio,outlier,machine,driver')
    expect(lines[4]).toMatch(/^s4,Night 4,.*,yes,bench,560$/)
    expect(lines[9]).toMatch(/^s9,.*,1\.1\d*,,bench,570$/)
  })
})

const none: Changes = { changes: [], segments: [], outliers: [] }
const at = (medianNs: number, half = 0.005): Extent => ({ medianNs, lowNs: medianNs * (1 - half), highNs: medianNs * (1 + half) })
const rangeOf = (points: readonly Extent[], changes = changePoints(points.map(({ medianNs }) => ({ medianNs })), 0.01)) => axisRange(points, changes)
const flat = Array.from({ length: 12 }, (_, i) => at(999 + (i % 3)))

describe('the range of the axis of a history', () => {
  it('is not stretched by one far-out point, above or below, wherever it stands', () => {
    const usual = rangeOf(flat)
    for (const i of [0, 5, 11]) {
      for (const [median, side] of [[6000, 'above'], [100, 'below']] as const) {
        const range = rangeOf(flat.map((point, j) => (j === i ? at(median) : point)))
        expect([...range[side]]).toEqual([i])
        expect(range.max - range.min).toBeLessThan(1.2 * (usual.max - usual.min))
      }
    }
  })

  it('keeps all in view that does not stretch it much', () => {
    const range = rangeOf(flat.map((point, i) => (i === 5 ? at(1015) : point)))
    expect(range.max).toBeGreaterThan(1020)
    expect([...range.above, ...range.below]).toEqual([])
  })

  it('holds every level, however far a step goes', () => {
    const range = rangeOf([...flat, at(3000), at(3004), at(3002)])
    expect(range.min).toBeLessThan(995)
    expect(range.max).toBeGreaterThan(3010)
    expect([...range.above, ...range.below]).toEqual([])
  })

  it('holds a drift from end to end', () => {
    const range = rangeOf(Array.from({ length: 20 }, (_, i) => at(1000 * 1.05 ** i)))
    expect([...range.above, ...range.below]).toEqual([])
  })

  it('cuts off an interval that is far longer than the others, its median staying in view', () => {
    const range = rangeOf(flat.map((point, i) => (i === 4 ? { medianNs: 1000, lowNs: 980, highNs: 9000 } : point)))
    expect(range.max).toBeLessThan(1100)
    expect(range.above.size).toBe(0)
  })

  it('shows few points whole, and one with room', () => {
    expect(axisRange([at(1000), at(6000)], none)).toMatchObject({ above: new Set(), below: new Set() })
    const one = axisRange([{ medianNs: 1000, lowNs: NaN, highNs: NaN }], none)
    expect(one.min).toBeLessThan(1000)
    expect(one.max).toBeGreaterThan(1000)
  })
})
