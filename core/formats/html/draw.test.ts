import { describe, expect, it } from 'vitest'
import { closeAxis, decadeAxis, powerOfTwoAxis } from './axes'
import { lineChart } from './draw'

describe('axes', () => {
  it('cover their values with readable steps', () => {
    expect(decadeAxis([130, 4200])).toEqual({ low: 100, high: 5000, ticks: [100, 200, 500, 1000, 2000, 5000] })
    expect(decadeAxis([3, 3e6])).toMatchObject({ low: 2, high: 5e6, ticks: [10, 100, 1000, 1e4, 1e5, 1e6] })
    expect(powerOfTwoAxis([1024, 5000])).toEqual({ low: 1024, high: 8192, ticks: [1024, 2048, 4096, 8192] })
    expect(powerOfTwoAxis([1, 2 ** 26]).ticks.length).toBeLessThanOrEqual(8)
  })

  it('stay close to ratios that are close together', () => {
    expect(closeAxis([0.73, 1, 1.17])).toEqual({ low: 0.7, high: 1.2, ticks: [0.7, 0.8, 0.9, 1, 1.1, 1.2] })
    expect(closeAxis([0.01, 1])).toEqual(decadeAxis([0.01, 1]))
  })

  it('have a width even for a single value', () => {
    for (const axis of [decadeAxis([100]), decadeAxis([1e-9]), closeAxis([1]), powerOfTwoAxis([1024])]) expect(axis.high).toBeGreaterThan(axis.low)
  })
})

it('leaves out what a logarithm cannot show, and is empty when nothing is left', () => {
  const chart = (points: { x: number; y: number }[]) => lineChart({ title: 't', xLabel: 'x', x: 'count', y: 'time', lines: [{ label: 'l', color: 0, symbol: 'circle', dash: 'solid', points }] })
  expect(chart([{ x: 1, y: 0 }, { x: 0, y: 1 }, { x: 1, y: NaN }])).toBe('')
  expect(chart([{ x: 1, y: 5 }, { x: 2, y: 0 }]).match(/<title>/g)).toHaveLength(1)
})
