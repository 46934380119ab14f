import { looksOf } from '@core/analysis/looks'
import { csvTable } from '@core/csv'
import { cleanSamples } from '@core/measure/result/labels'
import type { Result } from '@core/result'
import { chooseTimeUnit, localNumber } from '@core/units'
import { axisStyle } from '../drawing/option/axes'
import { frame, legendOf, LINE_WIDTH } from '../drawing/option/frame'
import type { ChartPoint } from '../data/points'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'
import { problemNames, variantsOf } from '../data/variants'
import { readingsOf } from './conditions'
import { distributionCsv, distributionOption, drawnRange, ecdf, histogram, thin } from './option'

/** Names that tell these results apart. */
function named(results: readonly Result[]): Overlaid[] {
  const points = results.map((result): ChartPoint => ({ id: result.id, case: result.case, medianNs: result.summary?.medianNs ?? 0, bytes: result.bytes, flops: result.flops, samples: result.samplesNs.length }))
  const { of } = variantsOf(points)
  const nameOf = problemNames(points)
  const names = results.map((result) => `${nameOf(result.case)} · ${of(result.case)}`)
  // The same case measured twice.
  return results.map((result, i) => ({ result, label: names.indexOf(names[i]!) === i ? names[i]! : `${names[i]!} (${names.slice(0, i + 1).filter((name) => name === names[i]).length})` }))
}

export default {
  id: 'distribution',
  title: 'Distribution',
  about: 'How the samples of the selected results are distributed, and how they went over time',
  order: 40,
  samples: ({ points, selected }) => (selected.size ? [...selected].slice(-MAX_OVERLAID) : points.slice(-1).map((point) => point.id)),
  controls({ results }) {
    const [result] = results
    if (!result) return []
    if (results.length > 1) return [{ id: 'scale', label: 'Scale', options: [{ value: 'time', title: 'Time per call' }, { value: 'relative', title: 'Relative to the median' }], preferred: preferredScale(results) }]
    const readings = readingsOf(result, result.samplesNs.length)
    return [{ id: 'beside', label: 'Beside the samples', options: readings.length ? [...readings.map(({ id, name }) => ({ value: id, title: `with ${name}` })), { value: 'none', title: 'samples alone' }] : [] }]
  },
  draw({ results, theme, reading, values, selected, size }) {
    const [result] = results
    const empty = reading ? 'Reading the samples…' : result ? 'This case has no samples, because it ended before it was timed.' : 'Select a row to see how its samples are distributed.'
    if (results.length > 1) {
      const shown = named(results)
      return {
        option: overlayOption(shown, values['scale'] === 'relative' ? 'relative' : 'time', theme, size.width),
        empty,
        ...(selected.size > MAX_OVERLAID ? { note: { text: `Last ${MAX_OVERLAID} of ${selected.size} selected results` } } : {}),
        csv: () => overlayCsv(shown),
      }
    }
    return {
      option: result && distributionOption(result.samplesNs, result.summary, theme.colorOf(result.case.backend, result.case.impl, result.case.device), theme, result, values['beside']),
      empty,
      ...(result ? { note: { text: `${named([result])[0]!.label}${selected.size ? '' : ', the last measured'}`, about: `Select up to ${MAX_OVERLAID} rows to lay their samples over each other` } } : {}),
      csv: () => (result ? distributionCsv(result.samplesNs, result) : ''),
    }
  },
} satisfies ChartUnit

/** More distributions than this on one plot cannot be told apart. */
const MAX_OVERLAID = 6

/** Over the time per call, or over how far each sample is from the median of its own result. */
export type OverlayScale = 'time' | 'relative'

interface Overlaid {
  label: string
  result: Result
}

/** Results whose medians differ by more than this factor are better looked at relative to their medians. */
const FAR_APART = 2

/** The scale on which all of these can be seen. */
export function preferredScale(results: readonly Result[]): OverlayScale {
  const medians = results.flatMap((result) => result.summary?.medianNs ?? [])
  return medians.length > 1 && Math.max(...medians) > FAR_APART * Math.min(...medians) ? 'relative' : 'time'
}

const PLOTS = [
  { title: 'Histogram (share of samples)', left: '4.5%', width: '26%' },
  { title: 'At or below', left: '38%', width: '26%' },
  { title: 'In the order taken', left: '71.5%', width: '26.5%' },
] as const

/**
 * Samples of several results: histograms, empirical distribution functions, and samples in the order taken. Histogram
 * and distribution function count what the statistics count; far-out samples are left off the axes. Undefined where
 * none has samples. `width` of the plot in px.
 */
export function overlayOption(shown: readonly Overlaid[], scale: OverlayScale, theme: ChartTheme, width: number) {
  const lines = shown
    .filter(({ result }) => result.samplesNs.length && result.summary)
    .map(({ label, result }) => {
      const { backend, impl, device } = result.case
      const scaled = (ns: number) => (scale === 'relative' ? ns / result.summary!.medianNs - 1 : ns)
      const samples = result.samplesNs.map(scaled)
      return { label, samples, counted: cleanSamples(result).map(scaled), color: theme.colorOf(backend, impl, device) }
    })
  if (!lines.length) return undefined
  const looks = looksOf(lines.map(({ label, color }) => ({ name: label, color })))
  const lookOf = ({ label }: { label: string }) => looks.get(label)!
  const ranges = lines.map((line) => drawnRange(line.counted))
  const range = { min: Math.min(...ranges.map(({ low }) => low)), max: Math.max(...ranges.map(({ high }) => high)) }
  if (range.min === range.max) Object.assign(range, { min: range.min - 0.01 * (Math.abs(range.min) || 1), max: range.max + 0.01 * (Math.abs(range.max) || 1) })
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const { legend, height } = legendOf(theme, lines.map((line) => line.label), LINE_WIDTH, width)
  const top = height + 26
  const unit = chooseTimeUnit(range.max)
  const decimals = Math.max(0, Math.min(4, Math.ceil(-Math.log10((range.max - range.min) / (scale === 'relative' ? 0.01 : unit.size) / 4))))
  const format = (value: number) => (scale === 'relative' ? `${localNumber((value * 100).toFixed(decimals))} %` : `${localNumber(String(Number((value / unit.size).toFixed(decimals))))} ${unit.name}`)
  const name = scale === 'relative' ? 'Distance from the median' : 'Time per call'
  const value = { ...style, type: 'value' as const, ...range, splitNumber: 3, axisLabel: { ...style.axisLabel, formatter: format, showMinLabel: false, showMaxLabel: false } }
  const share = { ...style, type: 'value' as const, min: 0, splitNumber: 4, axisLabel: { ...style.axisLabel, formatter: (v: number) => `${Math.round(v * 100)} %` } }
  const most = Math.max(...lines.map((line) => line.samples.length))
  const common = (line: (typeof lines)[number], plot: number) => ({ id: `${line.label}|${plot}`, name: line.label, xAxisIndex: plot, yAxisIndex: plot, color: line.color, emphasis: { focus: 'series' as const }, clip: true })
  const stroke = (line: (typeof lines)[number]) => ({ color: line.color, width: 1.75, type: lookOf(line).dash })
  return {
    ...base,
    legend: { ...legend, data: lines.map((line) => line.label) },
    title: PLOTS.map((plot) => ({ text: plot.title, left: plot.left, top: height + 4, padding: 0, textStyle: { color: theme.text, fontSize: 12, fontWeight: 600 as const, fontFamily: theme.fontText } })),
    grid: PLOTS.map(({ left, width: own }) => ({ left, width: own, top, bottom: 42 })),
    tooltip: { ...base.tooltip, valueFormatter: (v: unknown) => (typeof v === 'number' ? localNumber(String(Number(v.toPrecision(4)))) : String(v)) },
    xAxis: [
      { ...value, gridIndex: 0, name, nameGap: 26, splitLine: { show: false } },
      { ...value, gridIndex: 1, name, nameGap: 26, splitLine: { show: false } },
      { ...style, gridIndex: 2, type: 'value' as const, name: 'Sample', nameGap: 26, min: 0, max: Math.max(1, most - 1), splitNumber: 3, splitLine: { show: false } },
    ],
    yAxis: [{ ...share, gridIndex: 0 }, { ...share, gridIndex: 1, max: 1, interval: 0.25 }, { ...value, gridIndex: 2 }],
    series: lines.flatMap((line) => {
      const bins = histogram(line.counted.filter((v) => v >= range.min && v <= range.max))
      const edges = bins?.counts.flatMap((count, i): [number, number][] => [[bins.edges[i]!, count / line.counted.length], [bins.edges[i + 1]!, count / line.counted.length]]) ?? []
      const outline = edges.length ? [[edges[0]![0], 0], ...edges, [edges.at(-1)![0], 0]] : []
      return [
        { ...common(line, 0), type: 'line' as const, symbol: 'none', data: outline, lineStyle: { ...stroke(line), width: 1.25 }, areaStyle: { color: line.color, opacity: 0.16 } },
        { ...common(line, 1), type: 'line' as const, symbol: 'none', step: 'end' as const, data: thin(ecdf(line.counted)), lineStyle: stroke(line) },
        { ...common(line, 2), type: 'scatter' as const, symbol: lookOf(line).symbol, symbolSize: 4, data: thin(line.samples.map((v, i): [number, number] => [i, v])), itemStyle: { color: line.color, opacity: 0.6 } },
      ]
    }),
  }
}

/** Every sample of each result, in the order taken, as CSV. */
export const overlayCsv = (shown: readonly Overlaid[]): string =>
  csvTable(['result', 'sample', 'ns'], shown.flatMap(({ label, result }) => result.samplesNs.map((ns, i) => [label, i, ns])))
