import { describe, expect, it } from 'vitest'
import { renderSvg } from '../drawing/page/echarts'
import { colorAt, diverging, inkOn, SEQUENTIAL, chartTheme } from '../drawing/theme/theme'
import { chartPoint, drawOf } from '../testing'
import chart, { gridOf, heatMapOption } from './chart'

const theme = chartTheme('dark')
const value = (over: Parameters<typeof chartPoint>[0], v: number) => ({ point: chartPoint(over, 100), value: v })

describe('the grid', () => {
  it('has a row for each operation and whatever else varies, and a column for each size', () => {
    const grid = gridOf([value({ n: 1024 }, 1), value({ n: 64 }, 2), value({ n: 64, op: 'mul', dtype: 'f16' }, 3)])
    expect(grid.sizes).toEqual([64, 1024])
    expect(grid.rows).toEqual(['add · f32', 'mul · f16'])
    expect(grid.cells.map(({ row, column, value: v }) => [row, column, v])).toEqual([[0, 1, 1], [0, 0, 2], [1, 0, 3]])
  })
  it('takes the last of a repeated case', () => {
    const { cells } = gridOf([value({}, 1), value({}, 5)])
    expect(cells.map((cell) => [cell.value, cell.count])).toEqual([[5, 1]])
  })
  it('joins many sizes by powers of two, with their geometric mean', () => {
    const grid = gridOf(Array.from({ length: 64 }, (_, i) => value({ n: 64 + i * 4 }, i % 2 ? 4 : 1)))
    expect(grid.sizes).toEqual([64, 128, 256])
    expect(grid.cells[0]!.value).toBeCloseTo(2, 9)
    expect(grid.cells.reduce((sum, cell) => sum + cell.count, 0)).toBe(64)
  })
})

describe('the cells', () => {
  const grid = gridOf([value({ n: 64 }, 0.5), value({ n: 1024 }, 2)])
  it('say their value where it fits, and nothing where it does not', () => {
    const labels = (width: number) => heatMapOption(grid, 'speedup', 'cpu', theme, new Set(), width)!.series[0]!.data.map((cell) => cell.label)
    expect(labels(900).map((label) => [label.show, label.formatter])).toEqual([[true, '0.50x'], [true, '2.00x']])
    expect(labels(110)[0]!.show).toBe(false)
  })
  it('lie on either side of the neutral colour for speedups', () => {
    const { visualMap } = heatMapOption(grid, 'speedup', 'cpu', theme, new Set(), 900)!
    expect([visualMap.min, visualMap.max, visualMap.text]).toEqual([-1, 1, ['2x', '0.5x']])
  })
  it('are a dash where there is no value, which the title explains', () => {
    const uneven = gridOf([value({ n: 64 }, 1), value({ n: 1024 }, 2), value({ n: 64, op: 'mul' }, 3)])
    const { series, title } = heatMapOption(uneven, 'share', '', theme, new Set(), 900)!
    expect([series[1]!.data, title.text]).toEqual([[[1, 1]], 'Of the measured ceiling, by size in elements; – = no value'])
    expect(renderSvg(heatMapOption(uneven, 'share', '', theme, new Set(), 900)!, 900, 200)).toMatch(/>–</)
    expect(heatMapOption(grid, 'share', '', theme, new Set(), 900)!.title.text).not.toContain('–')
  })
  it('mark the selected result', () => {
    const cells = heatMapOption(grid, 'share', '', theme, new Set([grid.cells[1]!.point.id]), 900)!.series[0]!.data
    expect(cells.map((cell) => cell.itemStyle.borderColor)).toEqual([theme.surface, theme.accent])
  })
  it('show the spread of samples, and say what a share would need', () => {
    const points = [chartPoint({ n: 64 }, 100, 0.02), chartPoint({ n: 1024 }, 100, 0.04)]
    expect(renderSvg(drawOf(chart, points, { values: { value: 'spread' } }).option!, 900, 300)).toContain('3.0 %')
    expect(drawOf(chart, points, { values: { value: 'share' } })).toMatchObject({ option: undefined, empty: expect.stringContaining('ceilings') })
  })
})

describe('palettes', () => {
  it('go from end to end, with ink that can be read on every step', () => {
    expect(colorAt(SEQUENTIAL, 0)).toBe(SEQUENTIAL[0])
    expect(colorAt(SEQUENTIAL, 2)).toBe(SEQUENTIAL.at(-1))
    expect(colorAt(['#000000', '#ffffff'], 0.5)).toBe('#808080')
    expect([inkOn('#00224e'), inkOn('#fee838')]).toEqual(['#ffffff', '#000000'])
    expect(diverging(theme)).not.toEqual(diverging(chartTheme('light')))
  })
})
