import { expect, it } from 'vitest'
import { chartPoint, drawOf } from '../testing'
import chart, { type energyOption } from './chart'

const measured = { ...chartPoint({ impl: 'kernel', backend: 'cuda', n: 4096 }, 1000), energy: { joules: 0.5, low: 0.49, high: 0.51, watts: 500, callNs: 1e6 } }

it('draws the energy of a call against its time, for results that have one', () => {
  const option = drawOf(chart, [measured, chartPoint({}, 50)]).option as NonNullable<ReturnType<typeof energyOption>>
  expect(option.series.map(({ data }) => data)).toEqual([[{ value: [1e6, 0.5, measured.id] }]])
  const tip = option.tooltip.formatter({ value: [1e6, 0.5, measured.id], seriesName: 'x' })
  for (const words of ['500 mJ', '490 mJ to 510 mJ', '1.00 ms', '500 W']) expect(tip).toContain(words)
})

it('has ticks between results that hardly differ', () => {
  const near = { ...measured, ...chartPoint({ impl: 'cublaslt', backend: 'cuda', n: 4096 }, 1000), energy: { ...measured.energy, joules: 0.54, callNs: 1.06e6 } }
  const option = drawOf(chart, [measured, near]).option as NonNullable<ReturnType<typeof energyOption>>
  expect(option.xAxis).toMatchObject({ min: 980_000, max: 1.08e6, axisLabel: { customValues: [980_000, 1e6, 1.02e6, 1.04e6, 1.06e6, 1.08e6] } })
  expect(option.yAxis.axisLabel.customValues).toEqual([0.48, 0.5, 0.52, 0.54, 0.56])
})

it('tells implementations of one operation apart by their marks', () => {
  const other = { ...measured, ...chartPoint({ impl: 'cublaslt', backend: 'cuda', n: 4096 }, 1000) }
  const option = drawOf(chart, [measured, other]).option as NonNullable<ReturnType<typeof energyOption>>
  expect(new Set(option.series.map(({ symbol }) => symbol)).size).toBe(2)
})

it.each([
  ['edp', 5e-4],
  ['power', 500],
  ['flops', 2e9],
  ['bytes', 4e6],
])('draws %s against size', (y, value) => {
  const option = drawOf(chart, [{ ...measured, flops: 1e9, bytes: 2e6 }], { values: { y, x: 'size' } }).option as NonNullable<ReturnType<typeof energyOption>>
  expect(option.series[0]!.data).toEqual([{ value: [4096, value, measured.id] }])
})

it('leaves out what does no arithmetic where operations per joule are drawn', () => {
  expect(drawOf(chart, [{ ...measured, flops: 0 }], { values: { y: 'flops', x: 'time' } })).toMatchObject({ option: undefined, empty: expect.stringContaining('arithmetic') })
})

it('says what to do where no result has one, and exports what it shows', () => {
  expect(drawOf(chart, [chartPoint({}, 50)])).toMatchObject({ option: undefined, empty: expect.stringContaining('Energy per call') })
  expect(drawOf(chart, [measured]).csv().trim().split('\n')[1]).toContain(',1000000,0.5,0.49,0.51,500,')
})
