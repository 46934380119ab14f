import { format } from 'echarts/core'
import type { ChartSeries } from '../../data/series'
import { formatInterval } from '@core/units'
import type { ChartPoint } from '../../data/points'
import type { ChartTheme } from '../theme/theme'

/** Up to this many series are named at their line's end; more get a legend. */
export const DIRECT_LABELS = 6

/** One drawn point: [x, y, low, high, id]. `low` and `high` are NaN where there is no interval. */
export type Datum = [x: number, y: number, low: number, high: number, id: string]

/** Diameter of a mark on a line. */
export const MARK_PX = 6

const LEGEND_ROW = 20
const ITEM_GAP = 14
/** Px right of a name: the gap alone, which is also that between rows, is too little to tell whose mark is whose. */
const NAME_GAP = 6
/** Px of a line in the legend: room for a whole period of the longest dashes. */
export const LINE_WIDTH = 32
const LEGEND_FONT = "11px 'Inter Variable', system-ui, sans-serif"
/** Where the width is not known, legends are laid out for the narrowest pane the app has. */
const LEGEND_WIDTH = 640

/** Rows a legend of these labels takes when it wraps. */
function legendRows(labels: readonly string[], itemWidth: number, available: number): number {
  let rows = 1
  let used = 0
  for (const label of labels) {
    const width = ITEM_GAP + itemWidth + 6 + NAME_GAP + format.getTextRect(label, LEGEND_FONT).width
    if (used + width > available && used > 0) {
      rows++
      used = 0
    }
    used += width
  }
  return rows
}

/** A wrapping legend of up to three rows, a paged one beyond, and the height it takes in px. */
export function legendOf(theme: ChartTheme, labels: readonly string[], itemWidth = LINE_WIDTH, width = LEGEND_WIDTH) {
  const rows = legendRows(labels, itemWidth, width - 16)
  const paged = rows > 3
  return {
    height: 10 + LEGEND_ROW * (paged ? 1 : rows),
    legend: {
      // Said, because options are merged: a chart that grows beyond direct labels had it hidden before.
      show: true,
      type: paged ? ('scroll' as const) : ('plain' as const),
      data: [...labels],
      top: 4,
      left: 8,
      right: 8,
      itemWidth,
      itemHeight: 8,
      itemGap: ITEM_GAP,
      textStyle: { color: theme.text, fontSize: 11, padding: [0, NAME_GAP, 0, 0] },
      pageTextStyle: { color: theme.muted },
      pageIconColor: theme.muted,
      pageIconInactiveColor: theme.grid,
    },
  }
}

/** Everything the charts have in common: no animation, margins, legend, tooltip, drag zoom. `width` of the plot in px. */
export function frame(theme: ChartTheme, labels: readonly string[], width?: number) {
  const direct = labels.length <= DIRECT_LABELS
  const longest = Math.max(0, ...labels.map((label) => label.length))
  const { legend, height } = legendOf(theme, labels, LINE_WIDTH, width)
  return {
    animation: false,
    backgroundColor: theme.surface,
    textStyle: { fontFamily: theme.fontText, color: theme.text },
    grid: { left: 66, right: direct ? Math.min(220, 24 + longest * 6.2) : 20, top: direct ? 18 : height + 10, bottom: 44 },
    legend: direct ? { show: false } : legend,
    tooltip: {
      trigger: 'item' as const,
      confine: true,
      transitionDuration: 0,
      backgroundColor: theme.surface,
      borderColor: theme.grid,
      textStyle: { color: theme.text, fontSize: 12, fontFamily: theme.fontText },
      extraCssText: 'box-shadow: 0 4px 16px rgb(0 0 0 / 18%); font-variant-numeric: tabular-nums;',
    },
    // Drawn outside the picture: its select-zoom is what dragging on the plot uses (see ChartFrame.vue).
    toolbox: { show: true, itemSize: 0, right: -40, feature: { dataZoom: { filterMode: 'none' as const, icon: { zoom: 'path://M0 0', back: 'path://M0 0' } }, restore: { icon: 'path://M0 0' } } },
  }
}

/** Lines of a tooltip; every text is escaped. */
export function tooltipHtml(title: string, rows: readonly (readonly [string, string])[]): string {
  const cells = rows.map(([name, value]) => `<tr><td style="padding-right:12px;opacity:.7">${format.encodeHTML(name)}</td><td style="text-align:right">${format.encodeHTML(value)}</td></tr>`)
  return `<div style="font-weight:600;margin-bottom:4px">${format.encodeHTML(title)}</div><table style="border-spacing:0">${cells.join('')}</table>`
}

/** A line with its marks; selected results are drawn larger and ringed. `overlap`: how it shows the lines beneath it. */
export function lineOf(series: ChartSeries, data: Datum[], theme: ChartTheme, selected: ReadonlySet<string>, direct: boolean, overlap?: { dash?: number[]; sizes: readonly number[] }) {
  const color = theme.colorOf(series.backend, series.impl, series.facets.device)
  return {
    type: 'line' as const,
    id: series.key,
    name: series.label,
    data: data.map((value, i) => {
      const px = overlap?.sizes[i] ?? MARK_PX
      if (selected.has(value[4])) return { value, symbolSize: Math.max(11, px), itemStyle: { color, borderColor: theme.text, borderWidth: 2 } }
      return px > MARK_PX ? { value, symbolSize: px } : { value }
    }),
    dimensions: ['x', 'y', 'low', 'high', 'id'],
    encode: { x: 'x', y: 'y' },
    color,
    symbol: series.symbol,
    symbolSize: MARK_PX,
    showAllSymbol: true,
    lineStyle: { width: series.layer ? 1.25 : 1.75, type: overlap?.dash ?? series.dash, color },
    itemStyle: series.layer ? { color: theme.surface, borderColor: color, borderWidth: 1.5 } : { color, opacity: 1 },
    endLabel: { show: direct, formatter: '{a}', color, fontSize: 11, distance: 8, lineHeight: 14, padding: [1, 0], fontFamily: theme.fontText },
    labelLayout: { moveOverlap: 'shiftY' as const },
    emphasis: { focus: 'series' as const, scale: 1.4 },
    blur: { lineStyle: { opacity: 0.2 }, itemStyle: { opacity: 0.2 } },
    clip: true,
    // A click on a line, not only on its marks, isolates it.
    triggerEvent: 'line' as const,
  }
}

interface CustomApi {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
}

/** Draws items [x, low, high] as whiskers, but none shorter than `least` px: such lie beneath their mark. */
export const drawWhisker = (stroke: string, least = 0) => (_params: unknown, api: CustomApi) => {
  const [x, low] = api.coord([api.value(0), api.value(1)])
  const [, high] = api.coord([api.value(0), api.value(2)])
  if (low - high < least) return undefined
  const line = (x1: number, y1: number, x2: number, y2: number) => ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: 1, opacity: 0.8 } })
  return { type: 'group' as const, children: [line(x, low, x, high), line(x - 3, low, x + 3, low), line(x - 3, high, x + 3, high)] }
}

/** Whiskers from low to high of every point of a line, as a silent series beside it. */
export function whiskersOf(series: ChartSeries, data: Datum[], theme: ChartTheme) {
  return {
    type: 'custom' as const,
    id: `${series.key}|interval`,
    name: series.label,
    silent: true,
    tooltip: { show: false },
    z: 1,
    clip: true,
    data: data.filter(([, , low, high]) => low > 0 && high > 0).map(([x, , low, high]) => [x, low, high]),
    dimensions: ['x', 'low', 'high'],
    encode: { x: 0, y: [1, 2] },
    renderItem: drawWhisker(theme.colorOf(series.backend, series.impl, series.facets.device), MARK_PX / 2),
  }
}

/** "±0.4 %" of a median's interval, or an en dash where there is none. */
export const intervalText = ({ medianNs, ciLowNs, ciHighNs }: Pick<ChartPoint, 'medianNs' | 'ciLowNs' | 'ciHighNs'>): string => formatInterval(medianNs, ciLowNs, ciHighNs)
