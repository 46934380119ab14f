import type { Device } from '@core/backend'
import { csvTable } from '@core/csv'
import type { CurvePoint } from '@core/roofline/ceilings'
import { formatBandwidth, formatBytes } from '@core/units'
import { axisStyle, logAxis, logBounds, tick } from '../drawing/option/axes'
import { drawWhisker, frame, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'

/** `64 KiB`: sizes here are powers of two. */
const size = (bytes: number) => formatBytes(bytes).replace(/\.0+ /, ' ')

/** How far above the fastest copy the axis follows intervals. */
const MAX_ABOVE = 1.2

/** A round number at or above `value`, for the end of an axis. */
function roundUp(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value))
  return Math.ceil((value * 1.06) / step) * step
}

/**
 * Bandwidth of hot copies against their working set, with a line at the size of each cache. `published`: memory
 * bandwidth of the datasheet in bytes/s, drawn dashed where it is known. Intervals are whiskers. Undefined with fewer than two points.
 */
export function copyCurveOption(curve: readonly CurvePoint[], caches: Device['caches'], theme: ChartTheme, color: string, published?: number) {
  const bounds = curve.length < 2 ? undefined : logBounds(curve.map((point) => point.bytes), 2)
  if (!bounds) return undefined
  const fastest = Math.max(...curve.map((point) => point.bytesPerSecond))
  // An interval far above all others is cut off, so that the curve keeps its room.
  const top = Math.max(published ?? 0, ...curve.map((point) => Math.min(point.high ?? point.bytesPerSecond, fastest * MAX_ABOVE)))
  const base = frame(theme, [])
  const style = axisStyle(theme)
  const within = (caches ?? []).filter((cache) => cache.bytes >= bounds.min && cache.bytes <= bounds.max)
  const label = { color: theme.muted, fontSize: 11, opacity: 1, textBorderColor: theme.surface, textBorderWidth: 3, formatter: '{b}' }
  return {
    ...base,
    grid: { left: 62, right: 16, top: 22, bottom: 42 },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { dataIndex: number }) => {
        const point = curve[item.dataIndex]
        if (!point) return ''
        return tooltipHtml(`Copy of ${size(point.bytes)}`, [
          ['Bandwidth', formatBandwidth(point.bytesPerSecond)],
          ...(point.low === undefined || point.high === undefined ? [] : [['95 % CI', `${formatBandwidth(point.low)} to ${formatBandwidth(point.high)}`] as const]),
          ['Samples', String(point.ceiling.result.summary?.count ?? 0)],
          ['Grade', point.ceiling.result.grade ?? '–'],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 2, 'Working set, in and out together', bounds, size), nameGap: 26 },
    yAxis: { ...style, type: 'value' as const, min: 0, max: roundUp(top), splitNumber: 4, axisLabel: { ...style.axisLabel, formatter: tick(formatBandwidth) } },
    series: [
      {
        type: 'line' as const,
        id: 'copy curve',
        name: 'Copy',
        data: curve.map((point) => [point.bytes, point.bytesPerSecond]),
        color,
        symbol: 'circle',
        symbolSize: 5,
        showAllSymbol: true,
        lineStyle: { width: 1.75, color },
        markLine: {
          silent: true,
          symbol: 'none',
          data: [
            ...within.map((cache) => ({ xAxis: cache.bytes, name: cache.name, lineStyle: { color: theme.muted, width: 1, type: 'solid' as const, opacity: 0.5 }, label: { ...label, position: 'end' as const } })),
            ...(published === undefined ? [] : [{ yAxis: published, name: `datasheet ${formatBandwidth(published)}`, lineStyle: { color: theme.muted, width: 1, type: 'dashed' as const, opacity: 0.8 }, label: { ...label, position: 'insideStartTop' as const } }]),
          ],
        },
      },
      {
        type: 'custom' as const, id: 'intervals', name: 'Interval', silent: true, tooltip: { show: false }, z: 1, clip: true,
        data: curve.flatMap(({ bytes, low, high }) => (low === undefined || high === undefined ? [] : [[bytes, low, high]])),
        dimensions: ['x', 'low', 'high'],
        encode: { x: 0, y: [1, 2] },
        renderItem: drawWhisker(color),
      },
    ],
  }
}

/** What the chart shows, as CSV. */
export const copyCurveCsv = (curve: readonly CurvePoint[]): string =>
  csvTable(
    ['working_set_bytes', 'bytes_per_second', 'low_bytes_per_second', 'high_bytes_per_second', 'median_ns', 'samples'],
    curve.map((point) => [point.bytes, point.bytesPerSecond, point.low, point.high, point.ceiling.result.summary?.medianNs, point.ceiling.result.summary?.count]),
  )
