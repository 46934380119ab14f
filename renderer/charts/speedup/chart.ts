import { sizeOf } from '@core/analysis/size'
import type { BenchmarkCase } from '@core/case'
import { csvTable } from '@core/csv'
import { geometricMean } from '@core/stats/descriptive'
import { formatInteger, formatRatio, formatTime, speedupWords } from '@core/units'
import { axisStyle } from '../drawing/option/axes'
import { factorAxis, factorExtent, factorTicks } from '../drawing/option/factor-axis'
import { frame, legendOf, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'
import { problemNames, type Variant } from '../data/variants'
import { baselineControl, noSpeedup, speedups, type Speedup } from './pairs'

const OF_MEDIANS = 'from the intervals of both medians (MOVER on the log scale), as the samples are not at hand here; Compare resamples them.'
const OF_ROUNDS = 'from paired passes where both were measured in the same interleaved rounds, as in Compare'

/** Where ratios and intervals come from: paired rounds, else the medians with their intervals, as the page has no samples. */
function originOf(found: readonly Speedup[]): { text: string; about: string } {
  const paired = found.filter(({ paired }) => paired).length
  if (found.every(({ low }) => low === undefined)) return { text: 'too few rounds or samples for intervals', about: 'A time of too few samples has no interval, and neither has a ratio of too few paired passes.' }
  if (paired === 0) return { text: 'intervals from those of the medians', about: `Intervals of the ratios come ${OF_MEDIANS}` }
  if (paired === found.length) return { text: 'intervals from interleaved rounds', about: `Ratios and their intervals come ${OF_ROUNDS}.` }
  return { text: 'intervals from rounds, else from the medians', about: `Ratios and their intervals come ${OF_ROUNDS}; others ${OF_MEDIANS}` }
}

export default {
  id: 'speedup',
  title: 'Speedup',
  about: 'Speedup of each case over the baseline, with intervals and geometric means',
  order: 50,
  layers: true,
  controls: (context) => [
    baselineControl(context),
    { id: 'order', label: 'Order', options: [{ value: 'effect', title: 'Largest speedup first' }, { value: 'operation', title: 'By operation and size' }] },
  ],
  draw(context) {
    const baseline = context.values['baseline'] ?? ''
    const order: SpeedupOrder = context.values['order'] === 'operation' ? 'operation' : 'effect'
    const found = speedups(context, baseline)
    const origin = originOf(found)
    return {
      option: speedupOption(found, order, context.theme, context.selected, context.size.width),
      height: speedupHeight(Math.min(MAX_BARS, found.length)),
      empty: noSpeedup(context, baseline),
      ...(found.length > MAX_BARS
        ? { note: { text: `${MAX_BARS} of ${formatInteger(found.length)} speedups`, about: `${order === 'effect' ? 'The largest and the smallest are drawn' : 'The first are drawn'}; means and CSV have all. ${origin.about}` } }
        : found.length ? { note: { text: `Geometric means; ${origin.text}`, about: origin.about } } : {}),
      csv: () => speedupCsv(found),
    }
  },
} satisfies ChartUnit

type SpeedupOrder = 'effect' | 'operation'

/** More bars than this are no chart; the ends of the order are drawn. */
export const MAX_BARS = 200
const ROW_PX = 18
const MARGINS_PX = 64

/** A bar: how many times as fast, its row from the top, its interval, and the result. */
type Bar = [ratio: number, row: number, low: number, high: number, id: string]

/** Sorted, and cut to what is drawn: of too many by effect both ends, by operation the first. */
export function chooseBars(speedups: readonly Speedup[], order: SpeedupOrder): Speedup[] {
  if (order === 'effect') {
    const sorted = [...speedups].sort((a, b) => b.ratio - a.ratio)
    return sorted.length <= MAX_BARS ? sorted : [...sorted.slice(0, MAX_BARS / 2), ...sorted.slice(-MAX_BARS / 2)]
  }
  const ops = [...new Set(speedups.map((one) => one.point.case.op))]
  const rank = (one: Speedup) => ops.indexOf(one.point.case.op)
  return [...speedups].sort((a, b) => rank(a) - rank(b) || (sizeOf(a.point.case) ?? 0) - (sizeOf(b.point.case) ?? 0)).slice(0, MAX_BARS)
}

/** Height in px that so many bars need. */
const speedupHeight = (bars: number): number => bars * ROW_PX + MARGINS_PX

/** `cpu, 2 threads`. */
const placeOf = ({ device, threads }: BenchmarkCase): string => `${device}${threads === undefined ? '' : `, ${threads} ${threads === 1 ? 'thread' : 'threads'}`}`

interface Api {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
  size(value: [number, number]): [number, number]
}

/** A bar from 1x with a whisker over it. */
const drawBar = ({ fill, border }: Look, whisker: string, selected: ReadonlySet<string>, ids: readonly string[], outline: string) => (params: { dataIndex: number }, api: Api) => {
  const [x, y] = api.coord([api.value(0), api.value(1)])
  const [one] = api.coord([1, api.value(1)])
  const height = Math.max(3, Math.min(13, api.size([0, 1])[1] * 0.68))
  const picked = selected.has(ids[params.dataIndex] ?? '')
  const bar = { type: 'rect' as const, shape: { x: Math.min(x, one), y: y - height / 2, width: Math.max(1.5, Math.abs(x - one)), height }, style: { fill, stroke: picked ? outline : border, lineWidth: picked ? 2 : 1 } }
  if (!(api.value(2) > 0)) return { type: 'group' as const, children: [bar] }
  const [low] = api.coord([api.value(2), api.value(1)])
  const [high] = api.coord([api.value(3), api.value(1)])
  const line = (x1: number, y1: number, x2: number, y2: number) => ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style: { stroke: whisker, lineWidth: 1.25 } })
  return { type: 'group' as const, children: [bar, line(low, y, high, y), line(low, y - 3, low, y + 3), line(high, y - 3, high, y + 3)] }
}

/**
 * A bar for each result on a logarithmic axis around 1x, right of it where it is faster than the baseline, with the
 * interval of the ratio as whiskers. A dashed line of a variant is the geometric mean over all of its results, drawn or
 * not; the legend says of how many. Undefined without speedups.
 */
export function speedupOption(speedups: readonly Speedup[], order: SpeedupOrder, theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  const bars = chooseBars(speedups, order)
  if (!bars.length) return undefined
  const variants = [...new Map(speedups.map((one) => [one.variant.id, one.variant])).values()]
  const means = variants.map(({ id }) => {
    const ratios = speedups.filter((one) => one.variant.id === id).map((one) => one.ratio)
    return { mean: geometricMean(ratios)!, count: ratios.length }
  })
  const names = variants.map(({ title }, i) => `${title}: mean ${formatRatio(means[i]!.mean)} of ${formatInteger(means[i]!.count)}`)
  const looks = barLooks(variants, theme)
  const nameOf = problemNames(speedups.map((one) => one.point))
  const labels = bars.map((one) => nameOf(one.point.case))
  const longest = Math.max(...labels.map((label) => label.length))
  const left = Math.min(24 + longest * 6.1, width * 0.34)
  const axis = factorAxis(factorExtent(bars))
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const { legend, height } = legendOf(theme, names, 10, width)
  const byId = new Map(speedups.map((one) => [one.point.id, one]))
  return {
    ...base,
    grid: { left, right: 28, top: height + 20, bottom: 10 },
    legend: { ...legend, selectedMode: false as const },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: Bar }) => {
        const one = byId.get(item.value[4])
        if (!one) return ''
        return tooltipHtml(`${nameOf(one.point.case)} · ${one.variant.title}`, [
          [`Compared with ${one.baseTitle}`, speedupWords(one.ratio)],
          ['95 % CI', one.low === undefined || one.high === undefined ? '–' : `${formatRatio(one.low)} to ${formatRatio(one.high)}`],
          ['Median', formatTime(one.point.medianNs)],
          ['Baseline', `${formatTime(one.base.medianNs)} on ${placeOf(one.base.case)}`],
          ['Grade', `${one.point.grade ?? '–'} against ${one.base.grade ?? '–'}`],
        ])
      },
    },
    xAxis: {
      ...factorTicks(theme, axis), position: 'top' as const, axisLine: { ...style.axisLine, onZero: false },
    },
    yAxis: {
      ...style, type: 'category' as const, inverse: true, data: labels, axisTick: { show: false }, splitLine: { show: false },
      axisLabel: { ...style.axisLabel, interval: 0, width: left - 16, overflow: 'truncate' as const, color: theme.text, formatter: (label: string, i: number) => (order === 'operation' && labels[i - 1] === label ? '' : label) },
    },
    series: variants.map((variant, i) => {
      const look = looks[i]!
      const data = bars.flatMap((one, row): Bar[] => (one.variant.id === variant.id ? [[one.ratio, row, one.low ?? NaN, one.high ?? NaN, one.point.id]] : []))
      return {
        type: 'custom' as const,
        id: variant.id,
        name: names[i]!,
        color: look.fill,
        itemStyle: { color: look.fill, borderColor: look.border, borderWidth: 1 },
        data,
        dimensions: ['ratio', 'row', 'low', 'high', 'id'],
        encode: { x: [0, 2, 3], y: 1 },
        clip: true,
        renderItem: drawBar(look, theme.text, selected, data.map((bar) => bar[4]), theme.text),
        markLine: {
          silent: true,
          symbol: 'none',
          label: { show: false },
          data: [
            ...(i === 0 ? [{ xAxis: 1, lineStyle: { color: theme.text, width: 1, type: 'solid' as const } }] : []),
            { xAxis: means[i]!.mean, lineStyle: { color: look.border, width: 1.5, type: look.dash } },
          ],
        },
      }
    }),
  }
}

/** Every speedup, drawn or not, as CSV. */
const speedupCsv = (speedups: readonly Speedup[]): string => {
  const nameOf = problemNames(speedups.map((one) => one.point))
  return csvTable(
    ['case', 'variant', 'baseline', 'speedup', 'low', 'high', 'median_ns', 'baseline_median_ns'],
    speedups.map((one) => [nameOf(one.point.case), one.variant.title, one.baseTitle, one.ratio, one.low, one.high, one.point.medianNs, one.base.medianNs]),
  )
}

/** How the bars and the mean of a variant are drawn. */
interface Look {
  /** CSS colours. */
  fill: string
  border: string
  /** Of the line of its mean: a name or lengths in px. */
  dash: 'dashed' | 'dotted' | number[]
}

const DASHES: readonly Look['dash'][] = ['dashed', 'dotted', [9, 3, 2, 3], [14, 4], [2, 7]]
/** How much of the colour is left in the last of several variants. */
const PALEST = 0.08

/** `#rrggbb` between two others; `share` of the first. */
function mixed(color: string, other: string, share: number): string {
  const channel = (hex: string, i: number) => Number.parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16)
  return `#${[0, 1, 2].map((i) => Math.round(channel(color, i) * share + channel(other, i) * (1 - share)).toString(16).padStart(2, '0')).join('')}`
}

/** Variants of one implementation (other threads, other devices) share its colour and differ in how much of it fills their bars and in the dash of their mean. */
export function barLooks(variants: readonly Pick<Variant, 'backend' | 'impl' | 'device'>[], theme: ChartTheme): Look[] {
  const colorOf = ({ backend, impl, device }: Pick<Variant, 'backend' | 'impl' | 'device'>) => theme.colorOf(backend, impl, device)
  return variants.map((variant, at) => {
    const alike = variants.flatMap((other, i) => (colorOf(other) === colorOf(variant) ? [i] : []))
    const rank = alike.indexOf(at)
    const border = colorOf(variant)
    return { fill: mixed(border, theme.surface, alike.length === 1 ? 0.85 : 1 - ((1 - PALEST) * rank) / (alike.length - 1)), border, dash: DASHES[rank % DASHES.length]! }
  })
}
