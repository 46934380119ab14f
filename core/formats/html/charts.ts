import type { BenchmarkCase } from '../../case'
import { findOp } from '../../ops/registry'
import type { Result } from '../../result'
import { seriesColor, seriesKey, type Theme } from '../../backends'
import { sizeOf, sizeTitle } from '../../analysis/size'
import { formatInterval } from '../../units'
import { caseWordsOf } from '../shared/report'
import { dotPlot, lineChart, type ChartLine, type DotRow } from './draw'
import { escapeHtml } from './page'

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 4], [10, 4]]

/** Interval, samples and grade of a result, as they stand under the pointer. */
const aboutOf = ({ summary: s, grade, samplesNs }: Result): string =>
  [s?.ciLowNs === undefined ? '' : formatInterval(s.medianNs, s.ciLowNs, s.ciHighNs), `${s?.count ?? samplesNs.length} samples`, grade ? `grade ${grade}` : ''].filter(Boolean).join(', ')

interface Series {
  label: string
  key: string
  dash: readonly number[]
  results: { result: Result; size: number; medianNs: number }[]
}

/** Right results of one op as lines; those of the same implementation differ by dash. */
function seriesOf(results: readonly Result[]): Series[] {
  const series = new Map<string, Series>()
  const perKey = new Map<string, number>()
  for (const result of results) {
    const size = sizeOf(result.case)
    const medianNs = result.summary?.medianNs
    if (result.status !== 'ok' || size === undefined || !medianNs) continue
    const label = caseWordsOf(result.case).line
    let found = series.get(label)
    if (!found) {
      const key = seriesKey(result.case)
      const nth = perKey.get(key) ?? 0
      perKey.set(key, nth + 1)
      series.set(label, (found = { label, key, dash: DASHES[nth % DASHES.length]!, results: [] }))
    }
    found.results.push({ result, size, medianNs })
  }
  return [...series.values()]
}

/** CSS variables --s0, --s1, ... with the colour of each backend and implementation in both themes. */
export function seriesStyle(keys: readonly string[]): string {
  const rules = (theme: Theme, scope: string) => `${scope}{${keys.map((key, i) => `--s${i}:${seriesColor(key, theme)}`).join(';')}}`
  return `${rules('light', ':root')}@media screen{${rules('dark', ':root[data-theme=dark]')}}@media screen and (prefers-color-scheme:dark){${rules('dark', ':root:not([data-theme=light])')}}`
}

/** One entry of a legend with its sample of the line or dot. */
export const legendItem = (line: number, color: number, sample: string, label: string): string => `<li style="--c:var(--s${color})" data-line="${line}">${sample}${escapeHtml(label)}</li>`
export const DOT_SAMPLE = '<svg viewBox="0 0 8 8" class="dot" aria-hidden="true"><circle cx="4" cy="4" r="4"/></svg>'

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

/** The charts of a session: lines against size for each op measured at several sizes, and dots for all that have one. */
export function sessionCharts(results: readonly Result[]): string {
  const keys = [...new Set(results.map((r) => seriesKey(r.case)))]
  const groups = [...groupBy(results.filter((r) => r.status === 'ok'), (r) => r.case.op)]
  const single = groups.filter(([, own]) => !spansSizes(own)).flatMap(([, own]) => own)
  return [dotCharts(single, keys), ...groups.filter(([, own]) => spansSizes(own)).map(([op, own]) => opCharts(op, own, keys))].filter(Boolean).join('\n')
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
  const legend = [...names].map(([key, name], line) => legendItem(line, keys.indexOf(key), DOT_SAMPLE, name))
  return `<section class="charted"><ul class="legend">${legend.join('')}</ul><div class="charts">${figure('Time per call', time)}<div>${figure('Bandwidth', bandwidth)}${figure('FLOP/s', flops)}</div></div></section>`
}

/** Whether arithmetic rather than traffic is the figure of merit: products, convolutions, attention. */
const computesMost = (c: BenchmarkCase): boolean => ['matmul', 'attention', 'convolution', 'quantized'].includes(findOp(c.op)?.family ?? '')

/** Time and rate against size for one op, with their legend. `keys` are all series keys of the report. */
function opCharts(op: string, results: readonly Result[], keys: readonly string[]): string {
  const series = seriesOf(results)
  if (series.length === 0) return ''
  const computes = results.some((r) => computesMost(r.case))
  const xLabel = sizeTitle(results.map((r) => r.case))
  const line = (s: Series, point: (r: Series['results'][number]) => ChartLine['points'][number]): ChartLine => ({ label: s.label, color: keys.indexOf(s.key), dash: s.dash, points: s.results.map(point) })
  const time = lineChart({
    title: `${op}: time against size`, xLabel, x: 'count', y: 'time',
    lines: series.map((s) => line(s, ({ result, size, medianNs }) => ({ x: size, y: medianNs, low: result.summary?.ciLowNs, high: result.summary?.ciHighNs, about: aboutOf(result) }))),
  })
  const rate = lineChart({
    title: `${op}: ${computes ? 'FLOP/s' : 'bandwidth'} against size`, xLabel, x: 'count', y: computes ? 'flops' : 'bandwidth',
    lines: series.map((s) => line(s, ({ result, size, medianNs }) => ({ x: size, y: ((computes ? result.flops : result.bytes) / medianNs) * 1e9 }))),
  })
  const legend = series.map((s, line) => legendItem(line, keys.indexOf(s.key), `<svg viewBox="0 0 28 8" aria-hidden="true"><polyline points="0,4 28,4"${s.dash.length ? ` stroke-dasharray="${s.dash.join(' ')}"` : ''}/></svg>`, s.label))
  return `<section class="charted"><h3>${escapeHtml(op)}</h3><div class="charts"><figure><figcaption>Time per call</figcaption>${time}</figure><figure><figcaption>${computes ? 'FLOP/s' : 'Bandwidth'}</figcaption>${rate}</figure></div><ul class="legend">${legend.join('')}</ul></section>`
}
