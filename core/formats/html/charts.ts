import type { BenchmarkCase } from '../../case'
import { findOp } from '../../ops/registry'
import type { Result } from '../../result'
import { seriesColor, seriesKey } from '../../series-colors'
import { formatBandwidth, formatCount, formatFlops, formatTime } from '../../units'
import { escapeHtml } from './escape'
import { svgChart, type ChartLine } from './svg-chart'

/** Axis ticks are round: "10 ms" says what "10.0 ms" does. */
const tick = (format: (value: number) => string) => (value: number) => format(value).replace(/\.0+(?= )/, '')

const DASHES = ['', '6 3', '2 3', '8 3 2 3', '1 4', '10 4'] as const

/** Elements of the largest tensor, the size axis of every chart; undefined for an op this app does not have. */
function sizeOf(c: BenchmarkCase): number | undefined {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (!op || !parsed?.success) return undefined
  const shapes = [op.outputShape(parsed.data), ...op.inputs(parsed.data).map((input) => input.shape)]
  return Math.max(...shapes.map((shape) => shape.reduce((a, b) => a * b, 1)))
}

/** What tells one line from another: everything but the size. */
function lineLabel(c: BenchmarkCase): string {
  const words = Object.values(c.params).filter((value) => typeof value === 'string')
  return [c.device, c.impl, ...words, c.dtype, c.mode, c.threads === undefined ? '' : `${c.threads} thread${c.threads === 1 ? '' : 's'}`].filter(Boolean).join(' ')
}

interface Series {
  label: string
  key: string
  dash: string
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
    const label = lineLabel(result.case)
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

const className = (keys: readonly string[], key: string) => `s${keys.indexOf(key)}`

/** CSS rules that give each backend and implementation its colour in both themes. */
export function seriesStyle(keys: readonly string[]): string {
  const rules = (theme: 'light' | 'dark') => keys.map((key) => `.${className(keys, key)}{--c:${seriesColor(key, theme)}}`).join('')
  return `${rules('light')}@media(prefers-color-scheme:dark){${rules('dark')}}`
}

/** Time and rate against size for one op, with their legend. `keys` are all series keys of the report. */
export function opCharts(op: string, results: readonly Result[], keys: readonly string[]): string {
  const series = seriesOf(results)
  if (series.length === 0) return ''
  const computes = findOp(op)?.sizeKind === 'gemm'
  const line = (s: Series, point: (r: Series['results'][number]) => ChartLine['points'][number]): ChartLine => ({ label: s.label, className: className(keys, s.key), dash: s.dash, points: s.results.map(point) })
  const time = svgChart({
    title: `${op}: time against size`, xLabel: 'elements of the largest tensor', formatX: formatCount, formatY: tick(formatTime),
    lines: series.map((s) => line(s, ({ result, size, medianNs }) => ({ x: size, y: medianNs, low: result.summary?.ciLowNs, high: result.summary?.ciHighNs }))),
  })
  const rate = svgChart({
    title: `${op}: ${computes ? 'FLOP/s' : 'bandwidth'} against size`, xLabel: 'elements of the largest tensor', formatX: formatCount, formatY: tick(computes ? formatFlops : formatBandwidth),
    lines: series.map((s) => line(s, ({ result, size, medianNs }) => ({ x: size, y: ((computes ? result.flops : result.bytes) / medianNs) * 1e9 }))),
  })
  const legend = series.map((s) => `<li class="${className(keys, s.key)}"><svg viewBox="0 0 28 8" aria-hidden="true"><polyline points="0,4 28,4"${s.dash ? ` stroke-dasharray="${s.dash}"` : ''}/></svg>${escapeHtml(s.label)}</li>`)
  return `<section><h3>${escapeHtml(op)}</h3><div class="charts"><figure><figcaption>Time per call</figcaption>${time}</figure><figure><figcaption>${computes ? 'FLOP/s' : 'Bandwidth'}</figcaption>${rate}</figure></div><ul class="legend">${legend.join('')}</ul></section>`
}
