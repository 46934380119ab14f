import type { BenchmarkCase } from '../../case'
import type { Result } from '../../result'
import { seriesKey } from '../../backends'
import { sizeOf } from '../../analysis/size'
import { caseWordsOf } from '../shared/report'
import { dotPlot, type DotRow } from './draw'
import { aboutOf, computesMost, opCharts } from './multiples'
import { dotSample, legendItem } from './legend'

function groupBy(results: readonly Result[], key: (r: Result) => string): Map<string, Result[]> {
  const groups = new Map<string, Result[]>()
  for (const r of results) {
    const group = groups.get(key(r))
    if (group) group.push(r)
    else groups.set(key(r), [r])
  }
  return groups
}

const spansSizes = (results: readonly Result[]) => new Set(results.map((r) => sizeOf(r.case))).size > 1

/** Valid results by operation. */
const operationsOf = (results: readonly Result[]) => [...groupBy(results.filter((r) => r.status === 'ok'), (r) => r.case.op)]

/** Id of the heading of an operation's charts. */
const chartId = (at: number) => `chart-${at}`

/** Operations with charts of their own, and the ids of their headings. */
export const chartedOperations = (results: readonly Result[]): { op: string; id: string }[] => operationsOf(results).filter(([, own]) => spansSizes(own)).map(([op], i) => ({ op, id: chartId(i) }))

/** The charts of a session: lines against size for each op measured at several sizes, and dots for all that have one. */
export function sessionCharts(results: readonly Result[]): string {
  const keys = [...new Set(results.map((r) => seriesKey(r.case)))]
  const groups = operationsOf(results)
  const single = groups.filter(([, own]) => !spansSizes(own)).flatMap(([, own]) => own)
  return [dotCharts(single, keys), ...groups.filter(([, own]) => spansSizes(own)).map(([op, own], i) => opCharts(op, own, keys, chartId(i)))].filter(Boolean).join('\n')
}

/** Facts of a case that belong into its row because they differ within the chart. */
function rowLabels(results: readonly Result[]): (c: BenchmarkCase) => string {
  const facts: ((c: BenchmarkCase) => string)[] = [(c) => c.dtype, (c) => c.mode, (c) => c.device]
  const sameKey = new Map<string, Set<string>>()
  for (const { case: c } of results) sameKey.set(seriesKey(c), (sameKey.get(seriesKey(c)) ?? new Set()).add(c.device))
  const severalDevices = [...sameKey.values()].some((devices) => devices.size > 1)
  const threads = (c: BenchmarkCase) => (c.threads === undefined ? '' : `${c.threads} thread${c.threads === 1 ? '' : 's'}`)
  const severalThreads = new Set(results.map((r) => threads(r.case)).filter(Boolean)).size > 1
  const telling = facts.filter((fact, i) => (i === 2 ? severalDevices : new Set(results.map((r) => fact(r.case))).size > 1))
  if (severalThreads) telling.push(threads)
  return (c) => [c.op, caseWordsOf(c).shape, ...telling.map((fact) => fact(c))].filter(Boolean).join(' ')
}

/** Time and rate of ops measured at one size each: a row per case, a dot per implementation. */
function dotCharts(results: readonly Result[], keys: readonly string[]): string {
  const known = results.filter((r) => r.summary && r.summary.medianNs > 0)
  if (known.length === 0) return ''
  const label = rowLabels(known)
  const names = new Map(known.map((r) => [seriesKey(r.case), `${r.case.device} ${r.case.impl}`]))
  const present = [...names.keys()]
  const rows = (of: readonly Result[], dot: (r: Result, ns: number) => { value: number; low?: number; high?: number }): DotRow[] =>
    [...groupBy(of, (r) => label(r.case))].map(([name, own]) => ({ label: name, dots: own.map((r) => ({ label: caseWordsOf(r.case).line, color: keys.indexOf(seriesKey(r.case)), line: present.indexOf(seriesKey(r.case)), about: aboutOf(r), ...dot(r, r.summary!.medianNs) })) }))
  const figure = (title: string, svg: string) => (svg ? `<figure><figcaption>${title}</figcaption>${svg}</figure>` : '')
  const computes = (r: Result) => computesMost(r.case)
  const time = dotPlot({ title: 'Time per call', quantity: 'time', rows: rows(known, (r, value) => ({ value, low: r.summary!.ciLowNs, high: r.summary!.ciHighNs })) })
  const bandwidth = dotPlot({ title: 'Bandwidth', quantity: 'bandwidth', rows: rows(known.filter((r) => !computes(r)), (r, ns) => ({ value: (r.bytes / ns) * 1e9 })) })
  const flops = dotPlot({ title: 'FLOP/s', quantity: 'flops', rows: rows(known.filter(computes), (r, ns) => ({ value: (r.flops / ns) * 1e9 })) })
  const legend = [...names].map(([key, name], line) => legendItem(line, keys.indexOf(key), dotSample(line), name))
  return `<section class="charted"><ul class="legend">${legend.join('')}</ul><div class="charts">${figure('Time per call', time)}<div>${figure('Bandwidth', bandwidth)}${figure('FLOP/s', flops)}</div></div></section>`
}
