import type { BenchmarkCase } from '@core/case'
import { chartTheme } from './drawing/theme/theme'
import type { ChartPoint } from './data/points'
import type { ChartContext, ChartUnit, Picture } from './unit'

/** A point for tests of charts: `add` f32 hot on one CPU thread unless told otherwise; its id says what it is. */
export function chartPoint(over: Partial<BenchmarkCase> & { n?: number }, medianNs: number, half = 0.01): ChartPoint {
  const { n = 1024, ...rest } = over
  const c: BenchmarkCase = { op: 'add', params: { n }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot', threads: 1, ...rest }
  return { id: `${c.op} ${Object.values(c.params).join('x')} ${c.dtype} ${c.backend} ${c.impl} ${c.mode} ${c.threads ?? ''}`, case: c, medianNs, ciLowNs: medianNs * (1 - half), ciHighNs: medianNs * (1 + half), madNs: medianNs * half, bytes: 12 * n, flops: n, samples: 20, grade: 'A' }
}

/** A chart's picture of these points with its own choices, but for those in `values`. */
export function drawOf(unit: ChartUnit, points: readonly ChartPoint[], over: Partial<ChartContext> = {}): Picture {
  const { values: picked = {}, ...rest } = over
  const taken = unit.takes?.(points, picked) ?? points
  const base: Omit<ChartContext, 'values'> = {
    id: 's', name: 'Session', all: taken, points: taken, others: [], roofs: [], datasheets: [], ceilings: [], elsewhere: false, selected: new Set(), theme: chartTheme('light'), size: { width: 900, height: 300 }, results: [], reading: false, ...rest,
  }
  const values = Object.fromEntries((unit.controls?.(base, picked) ?? []).map(({ id, options, preferred }) => [id, picked[id] ?? preferred ?? options[0]?.value ?? '']))
  return unit.draw({ ...base, values })
}
