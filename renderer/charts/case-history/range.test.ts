import { describe, expect, it } from 'vitest'
import { changePoints, type Changes } from '@core/analysis/change-points'
import { axisRange, type Extent } from './range'

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
