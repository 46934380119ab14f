import { describe, expect, it } from 'vitest'
import { renderSvg } from './drawing/page/echarts'
import { chartPoint, drawOf } from './testing'
import { CHARTS } from './unit'

const points = ['scalar', 'avx2'].flatMap((impl) =>
  [1, 2].flatMap((threads) => [64, 1024, 16384].map((n) => chartPoint({ n, impl, threads }, (impl === 'scalar' ? n : 100 + n / 8) / threads)).map((point) => ({ ...point, energy: { joules: point.medianNs * 5e-7, watts: 500, callNs: point.medianNs } }))))

describe('every chart', () => {
  it('has an id, a title and a place of its own', () => {
    for (const key of ['id', 'title', 'order'] as const) expect(new Set(CHARTS.map((chart) => chart[key])).size).toBe(CHARTS.length)
    expect(CHARTS.map((chart) => chart.order)).toEqual(CHARTS.map((chart) => chart.order).sort((a, b) => a - b))
  })

  for (const chart of CHARTS) {
    it(`${chart.id} says what is missing when there is nothing`, () => {
      const { option, empty } = drawOf(chart, [])
      expect(option).toBeUndefined()
      expect(empty).toMatch(/^[A-Z].*[.…]$/)
    })
  }

  for (const chart of CHARTS.filter((one) => !one.samples)) {
    const ceilings = { roofs: [], ceilings: [] }
    it(`${chart.id} draws, without a naked NaN, and exports its data`, () => {
      const { option, csv } = drawOf(chart, points, ceilings)
      const svg = renderSvg(option!, 900, 400)
      expect(svg).not.toMatch(/NaN|undefined|Infinity/)
      expect(svg.match(/<path/g)!.length).toBeGreaterThan(5)
      const lines = csv().trim().split('\n')
      expect(lines.length).toBeGreaterThan(1)
      expect(lines.join()).not.toMatch(/NaN|undefined/)
    })
  }
})
