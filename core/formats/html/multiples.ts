import { looksOf } from '../../analysis/looks'
import { multiplesOf, type SplitFacet } from '../../analysis/multiples'
import { sizeOf, sizeTitle } from '../../analysis/size'
import { seriesKey } from '../../backends'
import type { BenchmarkCase } from '../../case'
import { threadText, variantText } from '../../case-words'
import { findOp } from '../../ops/registry'
import type { Result } from '../../result'
import { formatInterval } from '../../units'
import { lineChart, type ChartLine } from './draw'
import { legendItem, lineSample } from './legend'
import { escapeHtml } from './page'

/** Interval, samples and grade of a result, as they stand under the pointer. */
export const aboutOf = ({ summary: s, grade, samplesNs }: Result): string =>
  [s?.ciLowNs === undefined ? '' : formatInterval(s.medianNs, s.ciLowNs, s.ciHighNs), `${s?.count ?? samplesNs.length} samples`, grade ? `grade ${grade}` : ''].filter(Boolean).join(', ')

/** Whether arithmetic rather than traffic is the figure of merit: products, convolutions, attention. */
export const computesMost = (c: BenchmarkCase): boolean => ['matmul', 'attention', 'convolution', 'quantized'].includes(findOp(c.op)?.family ?? '')

/** What lines of one operation can differ in, in the order in which they are split into plots. */
const FACETS: readonly (SplitFacet<BenchmarkCase> & { id: 'mode' | 'dtype' | 'variant' | 'threads' })[] = [
  { id: 'mode', valueOf: (c) => c.mode },
  { id: 'dtype', valueOf: (c) => c.dtype },
  { id: 'variant', valueOf: variantText },
  { id: 'threads', valueOf: threadText },
]

interface Series {
  key: string
  sample: BenchmarkCase
  results: { result: Result; size: number; medianNs: number }[]
}

/** Right results of one op as lines: all that differ in size alone. */
function seriesOf(results: readonly Result[]): Series[] {
  const series = new Map<string, Series>()
  for (const result of results) {
    const size = sizeOf(result.case)
    const medianNs = result.summary?.medianNs
    if (result.status !== 'ok' || size === undefined || !medianNs) continue
    const { case: c } = result
    const id = [c.device, c.impl, c.backend, ...FACETS.map(({ valueOf }) => valueOf(c))].join('|')
    const found = series.get(id) ?? { key: seriesKey(c), sample: c, results: [] }
    series.set(id, found)
    found.results.push({ result, size, medianNs })
  }
  return [...series.values()]
}

/**
 * Time and rate against size for one op, with one legend: small multiples by mode, dtype and further facets where one plot had too many
 * lines, all on one scale. `keys` are all series keys of the report.
 */
export function opCharts(op: string, results: readonly Result[], keys: readonly string[], id: string): string {
  const series = seriesOf(results)
  if (series.length === 0) return ''
  const facets = FACETS.map(({ id, valueOf }): SplitFacet<Series> => ({ id, valueOf: ({ sample }) => valueOf(sample) }))
  const { multiples, split } = multiplesOf(series, facets)
  const small = multiples.length > 1
  // What the title of a plot says is not said again of each line.
  const labelOf = ({ sample: c }: Series) => [c.device, c.impl, ...FACETS.filter(({ id }) => !split.includes(id)).map(({ valueOf }) => valueOf(c))].filter(Boolean).join(' ')
  const labels = [...new Set(series.map(labelOf))]
  const colorOf = new Map(series.map((one) => [labelOf(one), keys.indexOf(one.key)]))
  const looks = looksOf(labels.map((name) => ({ name, color: String(colorOf.get(name)) })))
  const computes = results.some((r) => computesMost(r.case))
  const xLabel = sizeTitle(results.map((r) => r.case))
  const rateOf = ({ result, medianNs }: Series['results'][number]) => ((computes ? result.flops : result.bytes) / medianNs) * 1e9
  const all = series.flatMap((one) => one.results)
  const domain = (y: readonly number[]) => (small ? { domain: { x: all.map(({ size }) => size), y }, small } : {})
  const line = (one: Series, point: (r: Series['results'][number]) => ChartLine['points'][number]): ChartLine => ({ label: labelOf(one), line: labels.indexOf(labelOf(one)), color: keys.indexOf(one.key), ...looks.get(labelOf(one))!, points: one.results.map(point) })
  const about = (title: string) => (title ? `${op}, ${title}` : op)
  const figure = (title: string, caption: string, svg: string) => (svg ? `<figure><figcaption>${escapeHtml([title, caption].filter(Boolean).join(': '))}</figcaption>${svg}</figure>` : '')
  const time = multiples.map(({ title, items }) => figure(title, small ? '' : 'Time per call', lineChart({
    title: `${about(title)}: time against size`, xLabel, x: 'count', y: 'time', ...domain(all.map(({ medianNs }) => medianNs)),
    lines: items.map((one) => line(one, ({ result, size, medianNs }) => ({ x: size, y: medianNs, low: result.summary?.ciLowNs, high: result.summary?.ciHighNs, about: aboutOf(result) }))),
  })))
  const rateTitle = computes ? 'FLOP/s' : 'Bandwidth'
  const rate = multiples.map(({ title, items }) => figure(title, small ? '' : rateTitle, lineChart({
    title: `${about(title)}: ${computes ? 'FLOP/s' : 'bandwidth'} against size`, xLabel, x: 'count', y: computes ? 'flops' : 'bandwidth', ...domain(all.map(rateOf)),
    lines: items.map((one) => line(one, (r) => ({ x: r.size, y: rateOf(r) }))),
  })))
  const legend = labels.map((label, i) => legendItem(i, colorOf.get(label)!, lineSample(looks.get(label)!), label))
  const plots = small ? `<h4>Time per call</h4><div class="charts small">${time.join('')}</div><h4>${rateTitle}</h4><div class="charts small">${rate.join('')}</div>` : `<div class="charts">${time.join('')}${rate.join('')}</div>`
  return `<section class="charted"><h3 class="op" id="${id}">${escapeHtml(op)}</h3><ul class="legend">${legend.join('')}</ul>${plots}</section>`
}
