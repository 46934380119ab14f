import { expect, it } from 'vitest'
import { withPanning } from './use-dragging'

const zooms = (option: object, dragging: 'zoom' | 'pan') => withPanning(option as never, dragging)['dataZoom'] as { id: string; xAxisIndex?: number[]; yAxisIndex?: number[]; moveOnMouseMove: boolean }[]

it('moves every plot of small multiples together, and by drag only while panning', () => {
  const option = { xAxis: [{}, {}, {}], yAxis: [{}, {}, {}] }
  expect(zooms(option, 'pan').map(({ id, xAxisIndex, yAxisIndex, moveOnMouseMove }) => [id, xAxisIndex ?? yAxisIndex, moveOnMouseMove])).toEqual([['pan x', [0, 1, 2], true], ['pan y', [0, 1, 2], true]])
  expect(zooms(option, 'zoom').every(({ moveOnMouseMove }) => !moveOnMouseMove)).toBe(true)
})

it('leaves rows where they are in a chart whose rows do not zoom', () => {
  expect(zooms({ xAxis: {}, yAxis: {}, toolbox: { feature: { dataZoom: { yAxisIndex: 'none' } } } }, 'pan').map(({ id }) => id)).toEqual(['pan x'])
})
