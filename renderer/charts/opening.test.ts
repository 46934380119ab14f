import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { fastestImplementation, scalingAxis, SharedWork } from '@core/analysis/opening'
import { seriesKey } from '@core/backends'
import { ResultRows } from '../stores/rows/result-rows'
import { blockOf } from '@core/session/rows'
import type { SessionFile } from '@core/session/types'
import { openingFocus, within } from './data/focus'
import { pointsOf, type ChartPoint } from './data/points'
import { CHARTS, type ChartUnit } from './unit'
import { baselineControl, speedups } from './speedup/pairs'
import { drawOf } from './testing'

/** The two sessions of an NVIDIA H200, as a user who imports them sees them: without ceilings. */
const sessions = Object.fromEntries(['app-session', 'python-session'].map((name) => {
  const file = JSON.parse(gunzipSync(readFileSync(resolve(import.meta.dirname, `../../test/bench/results/${name}.json.gz`))).toString()) as SessionFile
  const rows = new ResultRows()
  rows.append(blockOf(file.results, 0))
  return [name, pointsOf(rows)] as const
}))
const NAMES = Object.keys(sessions)
const points = (name: string): readonly ChartPoint[] => sessions[name]!
const unit = (id: string): ChartUnit => CHARTS.find((chart) => chart.id === id)!

/** A chart as it opens: what it is narrowed to, and its picture. */
function opened(id: string, name: string) {
  const chart = unit(id)
  const all = chart.takes?.(points(name), {}) ?? points(name)
  const focus = openingFocus(chart, { all, ceilings: [], roofs: [] }, {}, {})
  const shown = within(all, focus)
  return { focus, shown, picture: drawOf(chart, points(name), { all, points: shown }) }
}
function comparedWith(of: readonly ChartPoint[]) {
  const shared = new SharedWork()
  for (const point of of) shared.add(point.case)
  return shared.mostCompared()
}
const series = (picture: { option: unknown }) => (picture.option as { series: { id?: string; data: unknown[] }[] }).series

describe.each(NAMES)('%s', (name) => {
  it.each(CHARTS.filter((chart) => !chart.samples && chart.id !== 'crossover' && chart.id !== 'energy').map(({ id }) => id))('%s opens with a picture', (id) => expect(series(opened(id, name).picture).some(({ data }) => data.length > 0)).toBe(true))

  it('the heat map shows most operations and sizes, of another implementation than the baseline', () => {
    const { focus, shown, picture } = opened('heat-map', name)
    const baseline = comparedWith(points(name))!
    expect(seriesKey(shown[0]!.case)).not.toBe(seriesKey(baseline))
    expect(new Set(shown.map((point) => point.case.op)).size).toBeGreaterThanOrEqual(8)
    expect(series(picture)[0]!.data.length).toBeGreaterThanOrEqual(30)
    expect(Object.keys(focus).length).toBeGreaterThan(0)
  })

  it('the roofline shows several intensities, not a single column', () => {
    const { shown } = opened('roofline', name)
    expect(new Set(shown.map((point) => (point.flops / point.bytes).toPrecision(3))).size).toBeGreaterThanOrEqual(8)
    expect(new Set(shown.map((point) => point.case.op)).size).toBeGreaterThanOrEqual(8)
  })

  it('scaling shows lines of three points or more', () => {
    const lines = series(opened('scaling', name).picture).filter(({ id }) => id?.endsWith('|0'))
    expect(lines.length).toBeGreaterThan(1)
    for (const { data } of lines) expect(data.length).toBeGreaterThanOrEqual(3)
  })

  it('no speedup is that of the baseline over itself, whatever the baseline', () => {
    const all = points(name)
    const { options, preferred } = baselineControl({ all, others: [] })
    expect(options.map(({ value }) => value)).toContain(preferred)
    for (const { value } of options) {
      const found = speedups({ all, points: all, others: [] }, value)
      expect(found.length).toBeGreaterThan(0)
      expect(found.filter(({ point, base }) => point.id === base.id || seriesKey(point.case) === seriesKey(base.case))).toEqual([])
    }
  })
})

it('the baseline is PyTorch where it was measured, else what shares the most work', () => {
  expect(comparedWith(points('python-session'))).toEqual({ backend: 'python', impl: 'torch' })
  expect(comparedWith(points('app-session'))).toEqual({ backend: 'cuda', impl: 'kernel' })
  expect(comparedWith(points('app-session').filter((point) => point.case.backend === 'cuda'))).toBeUndefined()
  // Without the one that has the most.
  expect(comparedWith(points('app-session').filter((point) => point.case.backend !== 'cuda'))).toEqual({ backend: 'cpu', impl: 'avx512' })
})

it('the fastest implementation is that of the geometric mean, of those with enough work in common', () => {
  expect(fastestImplementation(points('python-session'))).toEqual({ backend: 'python', impl: 'triton' })
  expect(fastestImplementation(points('app-session'))).toEqual({ backend: 'cuda', impl: 'kernel' })
  expect(fastestImplementation([])).toBeUndefined()
  const rare = points('python-session').filter((point) => point.case.impl !== 'triton' || point.case.op === 'softmax')
  expect(fastestImplementation(rare)!.impl).not.toBe('triton')
})

it('scaling goes along the first axis with a line of three points, else with two', () => {
  const of = (threads: number, rows: number, size: number) => scalingAxis((axis) => ({ threads, rows, size })[axis])
  expect([of(4, 9, 9), of(1, 3, 11), of(0, 2, 11), of(2, 2, 2), of(0, 2, 2), of(0, 0, 0)]).toEqual(['threads', 'rows', 'size', 'threads', 'rows', 'threads'])
})
