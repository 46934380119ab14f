import type { Timeline, TimelinePart } from '@core/analysis/block-timeline'
import { operationText, shapeText } from '@core/case-words'
import { csvTable } from '@core/csv'
import { findOp } from '@core/ops/registry'
import { timelineName } from '@core/suites/report'
import { formatBandwidth, formatBytes, formatFlops, formatPercent, formatTime } from '@core/units'
import { axisStyle, timeTick } from '../drawing/option/axes'
import { frame, legendOf, tooltipHtml } from '../drawing/option/frame'
import { colorAt, inkOn, type ChartTheme } from '../drawing/theme/theme'

/** One drawn part: [row, start in ns, end in ns, place among the parts of its row, id of its result]. */
export type PartDatum = [row: number, startNs: number, endNs: number, part: number, id: string]

/** What parts are told apart by, with colours that stay apart without red-green vision (Okabe & Ito 2008). */
export const KINDS = [
  { id: 'matmul', title: 'Matrix product', color: '#0072b2' },
  { id: 'attention', title: 'Attention', color: '#cc79a7' },
  { id: 'normalization', title: 'Normalization', color: '#e69f00' },
  { id: 'softmax', title: 'Softmax', color: '#d55e00' },
  { id: 'activation', title: 'Activation', color: '#009e73' },
  { id: 'other', title: 'Add and sum', color: '#7a828f' },
] as const
export type Kind = (typeof KINDS)[number]['id']

/** The kind of a part, by its op: a gradient counts as what it is the gradient of. */
export function kindOf({ case: c }: Pick<TimelinePart, 'case'>): Kind {
  const forward = c.op.replace(/_backward$/, '')
  const family = findOp(forward)?.family ?? ''
  const found = KINDS.find(({ id }) => id === family)
  return found?.id ?? (/softmax/.test(forward) ? 'softmax' : 'other')
}

const ROW_HEIGHT = 58
/** Px that the chart needs for so many rows. */
export const timelineHeight = (rows: number): number => 86 + rows * ROW_HEIGHT

/** Narrower parts have no label. */
const LABEL_WIDTH = 34
/** How far the colour of a backward part lies towards the surface. */
const BACKWARD_FADE = 0.22

interface RenderApi {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
  size(value: [number, number]): [number, number]
}

/**
 * The parts of a composite op one after the other, a row for each implementation, wide as their times. A line stands at the
 * end of the forward pass, a dashed one at the median of the whole op where that was measured. `layers` multiplies all times.
 * Undefined without a timeline.
 */
export function blockTimelineOption(timelines: readonly Timeline[], theme: ChartTheme, layers = 1) {
  if (timelines.length === 0) return undefined
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const several = new Set(timelines.map(({ work }) => work)).size > 1
  const names = timelines.map((one) => (several ? `${timelineName(one)}\n${one.work}` : timelineName(one)))
  const longest = Math.max(...timelines.map(({ forwardNs, backwardNs, whole }) => Math.max(forwardNs + backwardNs, whole?.ns ?? 0))) * layers
  const used = KINDS.filter(({ id }) => timelines.some(({ parts }) => parts.some((part) => kindOf(part) === id)))
  const { legend, height } = legendOf(theme, used.map(({ title }) => title), 10)
  const band = (api: RenderApi) => api.size([0, 1])[1] * 0.56
  return {
    ...base,
    legend,
    grid: { left: 12, right: 24, top: height + 8, bottom: 40, containLabel: true },
    tooltip: {
      ...base.tooltip,
      formatter: ({ value }: { value: PartDatum }) => {
        const timeline = timelines[value[0]]!
        const part = timeline.parts[value[3]]!
        return tooltipHtml(`${part.name} (${part.pass})`, [
          ['Operation', `${operationText(part.case)} ${shapeText(part.case)}`], ['Median', formatTime(part.ns)], ['Share of all parts', formatPercent(part.share)], ['Bytes', formatBytes(part.bytes)], ['Bandwidth', formatBandwidth(part.bytesPerSecond)],
          ...(part.flops > 0 ? [['Compute', formatFlops(part.flopsPerSecond)] as const] : []),
          ...(part.bound ? [['Bound', part.bound] as const] : []), ...(part.efficiency === undefined ? [] : [['Efficiency', formatPercent(part.efficiency)] as const]),
        ])
      },
    },
    xAxis: { ...style, type: 'value' as const, name: layers > 1 ? `Time of ${layers} layers` : 'Time', nameGap: 26, min: 0, max: longest * 1.01, axisLabel: { ...style.axisLabel, formatter: timeTick({ min: 0, max: longest }), showMaxLabel: false } },
    yAxis: { ...style, type: 'category' as const, inverse: true, data: names, axisLabel: { ...style.axisLabel, color: theme.text, width: 190, overflow: 'truncate' as const }, splitLine: { show: false } },
    series: [
      ...used.map(({ id, title, color }) => ({
        type: 'custom' as const,
        id,
        name: title,
        color,
        itemStyle: { color },
        clip: true,
        dimensions: ['row', 'start', 'end', 'part', 'id'],
        encode: { x: ['start', 'end'], y: 'row' },
        data: timelines.flatMap(({ parts }, row) => parts.flatMap((part, i): PartDatum[] => (kindOf(part) === id ? [[row, part.startNs * layers, (part.startNs + part.ns) * layers, i, part.result]] : []))),
        renderItem: (_params: unknown, api: RenderApi) => {
          const [row, start, end, part] = [api.value(0), api.value(1), api.value(2), api.value(3)]
          const [x, y] = api.coord([start, row])
          const width = Math.max(1, api.coord([end, row])[0] - x)
          const height = band(api)
          const { name, pass } = timelines[row]!.parts[part]!
          return {
            type: 'rect' as const,
            shape: { x, y: y - height / 2, width, height },
            style: { fill: pass === 'forward' ? color : colorAt([color, theme.surface], BACKWARD_FADE), stroke: theme.surface, lineWidth: width > 4 ? 1 : 0 },
            emphasis: { style: { stroke: theme.text, lineWidth: 1.5 } },
            ...(width > LABEL_WIDTH ? { textContent: { style: { text: name, fill: inkOn(pass === 'forward' ? color : colorAt([color, theme.surface], BACKWARD_FADE)), width: width - 6, overflow: 'truncate' as const, fontSize: 11, fontFamily: theme.fontMono } }, textConfig: { position: 'inside' as const } } : {}),
          }
        },
      })),
      {
        type: 'custom' as const, id: 'marks', name: 'Marks', silent: true, tooltip: { show: false }, z: 5,
        dimensions: ['row', 'at', 'whole'], encode: { x: 'at', y: 'row' },
        data: timelines.flatMap(({ forwardNs, backwardNs, whole }, row) => [...(backwardNs > 0 ? [[row, forwardNs * layers, 0]] : []), ...(whole ? [[row, whole.ns * layers, 1]] : [])]),
        renderItem: (_params: unknown, api: RenderApi) => {
          const [x, y] = api.coord([api.value(1), api.value(0)])
          const half = band(api) / 2 + 7
          return { type: 'line' as const, shape: { x1: x, y1: y - half, x2: x, y2: y + half }, style: { stroke: theme.text, lineWidth: 1.5, ...(api.value(2) ? { lineDash: [4, 3] } : {}) } }
        },
      },
    ],
  }
}

/** The drawn data: one line for each part. Times in ns, of one layer. */
export const blockTimelineCsv = (timelines: readonly Timeline[]): string =>
  csvTable(
    ['operation', 'implementation', 'pass', 'part', 'start_ns', 'median_ns', 'share', 'bytes', 'flops', 'bound', 'efficiency'],
    timelines.flatMap((one) => one.parts.map((part) => [one.work, timelineName(one), part.pass, part.name, part.startNs, part.ns, part.share, part.bytes, part.flops, part.bound ?? '', part.efficiency ?? ''])),
  )
