import { csvTable } from '@core/csv'
import { cleanSamples } from '@core/measure/result/labels'
import { formatTime, localNumber } from '@core/units'
import { axisStyle, timeTick } from '../drawing/option/axes'
import { frame } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import { conditionLegend, conditionMarks, readingAxis, type Conditions } from './conditions'

export interface Histogram {
  /** Edges in ns, one more than counts. */
  edges: number[]
  counts: number[]
}

/**
 * Histogram by the Freedman-Diaconis rule (bin width 2 IQR / n^(1/3)), between 1 and 80 bins over the whole range.
 * Undefined without samples; a single value gets one bin around it.
 */
export function histogram(samplesNs: readonly number[]): Histogram | undefined {
  if (!samplesNs.length) return undefined
  const sorted = Float64Array.from(samplesNs).sort()
  const low = sorted[0]!
  const high = sorted[sorted.length - 1]!
  if (low === high) return { edges: [low * 0.995, high * 1.005 + (high === 0 ? 1 : 0)], counts: [sorted.length] }
  const at = (p: number) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!
  const width = (2 * (at(0.75) - at(0.25))) / Math.cbrt(sorted.length)
  const bins = width > 0 ? Math.min(80, Math.max(1, Math.ceil((high - low) / width))) : 20
  const counts = new Array<number>(bins).fill(0)
  for (const v of sorted) counts[Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins))]!++
  return { edges: Array.from({ length: bins + 1 }, (_, i) => low + ((high - low) * i) / bins), counts }
}

/** Empirical distribution function as steps: [ns, share of samples at or below it]. */
export function ecdf(samplesNs: readonly number[]): [number, number][] {
  const sorted = Float64Array.from(samplesNs).sort()
  return Array.from(sorted, (v, i): [number, number] => [v, (i + 1) / sorted.length])
}

/** How far beyond the quartiles samples are drawn, in interquartile ranges: one hiccup must not flatten all the others. */
const DRAWN_IQR = 6

/** The part of the time axis that is drawn, in ns, and how many samples lie outside it. */
export function drawnRange(samplesNs: readonly number[]): { low: number; high: number; outside: number } {
  const sorted = Float64Array.from(samplesNs).sort()
  const at = (p: number) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!
  const reach = DRAWN_IQR * (at(0.75) - at(0.25))
  const low = reach > 0 ? Math.max(sorted[0]!, at(0.25) - reach) : sorted[0]!
  const high = reach > 0 ? Math.min(sorted.at(-1)!, at(0.75) + reach) : sorted.at(-1)!
  return { low, high, outside: sorted.reduce((count, v) => count + (v < low || v > high ? 1 : 0), 0) }
}

/** Labelled samples beyond this many are drawn smaller and paler, or they hide the others. */
const FEW_MARKS = 60

/** Everything beyond this many samples is thinned before drawing; the CSV keeps all of them. */
const DRAWN = 4000

export const thin = <T>(values: readonly T[]): T[] => {
  const step = Math.ceil(values.length / DRAWN)
  return step <= 1 ? [...values] : values.filter((_, i) => i % step === 0)
}

/**
 * Raw samples of one result: histogram of those that count with the ECDF above the same axis on the left, all samples in the order taken on
 * the right, median and its interval marked in both. Samples far out are counted instead of drawn; labelled ones have a
 * mark of their own, and a reading beside them (`beside`; absent: the clock or probe) is a line. Undefined without samples.
 */
export function distributionOption(samplesNs: readonly number[], summary: { medianNs: number; ciLowNs?: number; ciHighNs?: number } | undefined, color: string, theme: ChartTheme, conditions: Conditions = {}, beside?: string) {
  const drawn = drawnRange(samplesNs)
  const counted = cleanSamples({ samplesNs: [...samplesNs], labels: conditions.labels })
  const near = counted.filter((ns) => ns >= drawn.low && ns <= drawn.high)
  const bins = histogram(near.length > 0 ? near : counted)
  if (!bins) return undefined
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const marks = conditionMarks(samplesNs, conditions, beside)
  const range = { min: bins.edges[0]!, max: bins.edges.at(-1)! }
  // Samples that do not count are drawn in the order taken, and reach further.
  const reach = { min: Math.min(drawn.low, range.min), max: Math.max(drawn.high, range.max) }
  const time = { ...style, type: 'value' as const, ...range, axisLabel: { ...style.axisLabel, formatter: timeTick(range), showMinLabel: false, showMaxLabel: false }, splitNumber: 4 }
  const mark = (axis: 'xAxis' | 'yAxis') => ({
    silent: true,
    symbol: 'none',
    lineStyle: { color: theme.text, width: 1, type: 'solid' as const },
    label: { formatter: '{b}', color: theme.text, fontSize: 11, ...(axis === 'xAxis' ? { position: 'end' as const, distance: 9 } : { position: 'insideEndTop' as const, backgroundColor: theme.surface, padding: [1, 3] }) },
    data: summary ? [{ [axis]: summary.medianNs, name: `median ${formatTime(summary.medianNs)}` }] : [],
  })
  const interval = (axis: 'xAxis' | 'yAxis') => ({
    silent: true,
    itemStyle: { color: theme.accent, opacity: 0.14 },
    data: summary?.ciLowNs !== undefined && summary.ciHighNs !== undefined ? [[{ [axis]: summary.ciLowNs }, { [axis]: summary.ciHighNs }]] : [],
  })
  return {
    ...base,
    legend: conditionLegend(marks, theme),
    grid: [
      { left: 52, right: '58%', top: 30, bottom: 44 },
      { left: '54%', right: marks.reading ? 74 : 18, top: 30, bottom: 44 },
    ],
    tooltip: { ...base.tooltip, trigger: 'axis' as const, axisPointer: { type: 'line' as const, lineStyle: { color: theme.muted } }, valueFormatter: (v: unknown) => (typeof v === 'number' ? localNumber(String(Number(v.toPrecision(4)))) : String(v)) },
    xAxis: [
      { ...time, gridIndex: 0, name: drawn.outside ? `Time per call (${drawn.outside} of ${samplesNs.length} samples lie further out)` : 'Time per call', nameGap: 28, splitLine: { show: false } },
      { ...style, gridIndex: 1, type: 'value' as const, name: 'Sample', nameGap: 28, min: 0, max: Math.max(1, samplesNs.length - 1), splitLine: { show: false }, minInterval: 1, axisLabel: { ...style.axisLabel, showMaxLabel: false } },
    ],
    yAxis: [
      { ...style, gridIndex: 0, type: 'value' as const, name: 'Samples', nameGap: 36, minInterval: 1 },
      { ...style, gridIndex: 0, type: 'value' as const, min: 0, max: 1, position: 'right' as const, splitLine: { show: false }, axisLabel: { ...style.axisLabel, formatter: (v: number) => `${Math.round(v * 100)} %` } },
      { ...time, ...reach, gridIndex: 1, name: '' },
      readingAxis(marks, theme),
    ],
    series: [
      {
        type: 'custom' as const,
        id: 'histogram',
        name: 'Samples',
        xAxisIndex: 0,
        yAxisIndex: 0,
        clip: true,
        data: bins.counts.map((count, i) => [bins.edges[i], bins.edges[i + 1], count]),
        encode: { x: [0, 1], y: 2 },
        renderItem: (_p: unknown, api: { value(d: number): number; coord(v: [number, number]): [number, number] }) => {
          const [x1, top] = api.coord([api.value(0), api.value(2)])
          const [x2, bottom] = api.coord([api.value(1), 0])
          return { type: 'rect' as const, shape: { x: x1 + 0.5, y: top, width: Math.max(1, x2 - x1 - 1), height: bottom - top }, style: { fill: color, opacity: 0.75 } }
        },
      },
      { type: 'line' as const, id: 'ecdf', name: 'At or below', xAxisIndex: 0, yAxisIndex: 1, step: 'end' as const, data: thin(ecdf(counted)), symbol: 'none', lineStyle: { color: theme.muted, width: 1.25 }, markLine: mark('xAxis'), markArea: interval('xAxis') },
      { type: 'scatter' as const, id: 'order', name: 'Sample', xAxisIndex: 1, yAxisIndex: 2, data: thin(marks.clean), symbolSize: 4, itemStyle: { color, opacity: 0.7 }, large: false, markLine: mark('yAxis'), markArea: interval('yAxis') },
      ...marks.labelled.map(({ kind, name, symbol, points }) => ({
        type: 'scatter' as const, id: `label ${kind}`, name, xAxisIndex: 1, yAxisIndex: 2, data: thin(points), symbol, symbolSize: points.length > FEW_MARKS ? 5 : 8, itemStyle: { color: theme.surface, borderColor: points.length > FEW_MARKS ? theme.muted : theme.text, borderWidth: 1 }, large: false,
      })),
      ...(marks.reading
        ? [{ type: 'line' as const, id: 'reading', name: marks.reading.name, xAxisIndex: 1, yAxisIndex: 3, data: thin(marks.reading.points), symbol: 'none', step: marks.reading.step, lineStyle: { color: theme.muted, width: 1, opacity: 0.8 }, itemStyle: { color: theme.muted }, z: 1 }]
        : []),
    ],
  }
}

/** Every sample, in the order taken, as CSV, with its labels and the readings beside it where there are any. */
export function distributionCsv(samplesNs: readonly number[], { labels, clocksMhz, probesNs }: Conditions = {}): string {
  const kinds = samplesNs.map((_, i) => labels?.filter(({ first, count }) => i >= first && i < first + count).map(({ kind }) => kind).join(' '))
  const columns = [
    { name: 'sample', of: (i: number) => i }, { name: 'ns', of: (i: number) => samplesNs[i] },
    ...(labels?.length ? [{ name: 'labels', of: (i: number) => kinds[i] }] : []),
    ...(clocksMhz ? [{ name: 'clock_mhz', of: (i: number) => clocksMhz[i] || undefined }] : []),
    ...(probesNs ? [{ name: 'probe_ns', of: (i: number) => probesNs[i] || undefined }] : []),
  ]
  return csvTable(columns.map(({ name }) => name), samplesNs.map((_, i) => columns.map((column) => column.of(i))))
}
