import { expect, it } from 'vitest'
import { testCase, testResult } from '@core/testing'
import { overlapsOf } from '@core/analysis/looks'
import { groupSeries } from '../../data/series'
import { chartTheme } from '../theme/theme'
import { chartPoint, drawOf } from '../../testing'
import { overlayOption } from '../../distribution/chart'
import scaling from '../../scaling/chart'
import throughput from '../../throughput/chart'
import time from '../../time-vs-size/chart'
import { distinctLooks } from './looks'

const theme = chartTheme('light')
const SIZES = [64, 1024, 16384]
interface Line { type: string; name: string; color: string; symbol: string; lineStyle: { type: 'solid' | number[] }; data: { symbolSize?: number }[] }
const linesOf = (option: unknown) => (option as { series: Line[] }).series.filter(({ type, data }) => type === 'line' && data.length)

const IMPLS = ['scalar', 'sse2', 'avx2', 'avx512']
const grid = IMPLS.flatMap((impl, i) => SIZES.map((n) => chartPoint({ impl, n }, n * (i + 1) * 3)))
const overlay = (all: typeof theme) => {
  const results = IMPLS.map((impl, i) => ({ label: impl, result: testResult({ id: impl, case: testCase({ impl }), samplesNs: Array.from({ length: 20 }, (_, at) => 100 + 10 * i + at) }) }))
  const series = (overlayOption(results, 'time', all, 900) as unknown as { series: (Line & { id: string })[] }).series
  const dots = new Map(series.filter(({ type }) => type === 'scatter').map(({ name, symbol }) => [name, symbol]))
  return series.filter(({ id }) => id.endsWith('|1')).map((line) => ({ ...line, symbol: dots.get(line.name)! }))
}

it('series of one colour differ in their dashes, and every name has its mark', () => {
  const hosts = ['n1/fake:0', 'n2/fake:0'].flatMap((device) => ['steady', 'noisy', 'slow'].map((impl) => ({ backend: 'fake', device, impl, threads: undefined })))
  const { series } = groupSeries(hosts.flatMap((of) => SIZES.map((n) => chartPoint({ ...of, n }, n))))
  const oneColour = { ...theme, colorOf: () => '#025936' }
  for (const each of [theme, oneColour]) {
    const looks = distinctLooks(series, each).map((one) => JSON.stringify([each.colorOf(one.backend, one.impl, one.facets.device), one.dash]))
    expect(new Set(looks).size).toBe(hosts.length)
  }
  expect(new Set(distinctLooks(series, oneColour).map(({ symbol }) => symbol)).size).toBe(hosts.length)
})

it('a name looks the same in every plot of a chart', () => {
  const points = ['add', 'mul', 'exp'].flatMap((op) => ['scalar', 'sse2', 'avx2'].flatMap((impl, i) => SIZES.map((n) => chartPoint({ op, impl, n }, n * (i + 1) * 2))))
  const lines = linesOf(drawOf(time, points).option)
  expect(lines).toHaveLength(9)
  expect(new Set(lines.map(({ name, color, symbol, lineStyle }) => JSON.stringify([name, color, symbol, lineStyle.type]))).size).toBe(3)
})

it('lines that coincide are drawn in stripes, so that each colour is seen, and their marks around each other', () => {
  const impls = ['torch', 'torch.compile', 'triton', 'numpy']
  const points = impls.flatMap((impl) => SIZES.map((n) => chartPoint({ backend: 'python', device: 'python:0', impl, n, threads: undefined }, impl === 'numpy' ? n * 50 : n)))
  const option = drawOf(throughput, points).option
  const lines = linesOf(option)
  const dashes = lines.map(({ lineStyle }) => lineStyle.type)
  expect(dashes[0]).toBe('solid')
  expect(dashes[3]).toBe('solid')
  // One period: the first part shows the top line, the next the one below it, the last the lowest.
  const [second, third] = dashes.slice(1, 3) as number[][]
  expect(second![0]! + second![1]!).toBe(third![0]! + third![1]!)
  expect(third![0]!).toBeLessThan(second![0]!)
  expect(second![0]!).toBeLessThan(second![0]! + second![1]!)
  const sizes = lines.map(({ data }) => data[0]!.symbolSize ?? 6)
  expect(sizes[0]).toBeGreaterThan(sizes[1]!)
  expect(sizes[1]).toBeGreaterThan(sizes[2]!)
  expect(new Set(lines.map(({ symbol }) => symbol)).size).toBe(4)
})

it('lines that only cross stay as they are', () => {
  const line = (color: string, ys: number[]) => ({ color, data: ys.map((y, i) => [i, y, NaN, NaN, ''] as [number, number, number, number, string]) })
  const [first, second] = overlapsOf([line('#000', [0, 50, 100]), line('#fff', [100, 50, 0])], (y) => y, 6)
  expect([first!.dash, second!.dash]).toEqual([undefined, undefined])
  expect(first!.sizes[1]).toBeGreaterThan(first!.sizes[0]!)
})

it.each([
  ['time', (all: typeof theme) => linesOf(drawOf(time, grid, { theme: all }).option)],
  ['throughput', (all: typeof theme) => linesOf(drawOf(throughput, grid, { theme: all }).option)],
  ['scaling', (all: typeof theme) => linesOf(drawOf(scaling, grid, { theme: all, values: { along: 'size' } }).option).filter(({ name }) => name !== 'Ideal')],
  ['distribution', (all: typeof theme) => overlay(all)],
])('the series of the %s chart are told apart without colour', (_, draw) => {
  const looks = new Map(draw({ ...theme, colorOf: () => '#025936' }).map(({ name, symbol, lineStyle }) => [name, JSON.stringify([symbol, lineStyle?.type])]))
  expect(looks.size).toBe(4)
  expect(new Set(looks.values()).size).toBe(4)
})

it('colours stand for devices in every chart that is coloured by them', () => {
  const devices: (string | undefined)[] = []
  const asked = { ...theme, colorOf: (_backend: string, _impl: string, device?: string) => (devices.push(device), '#025936') }
  drawOf(scaling, grid, { theme: asked, values: { along: 'size' } })
  overlay(asked)
  expect(devices.length).toBeGreaterThan(0)
  expect(devices).not.toContain(undefined)
})
