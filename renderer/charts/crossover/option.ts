import { crossoverSentence } from '@core/analysis/crossover'
import { csvTable } from '@core/csv'
import { formatSizeTick, formatTime } from '@core/units'
import { axisStyle, logAxis, logBounds } from '../axes'
import { frame, tooltipHtml } from '../drawing/frame'
import type { ChartTheme } from '../types'
import type { FoundCrossover } from './chart'

/** More rows than this are no chart. */
export const MOST_CROSSOVERS = 80
const ROW_PX = 36
const MARGINS_PX = 52

/** Height in px that so many rows need. */
export const crossoverHeight = (rows: number): number => rows * ROW_PX + MARGINS_PX

/** `312`, `63.9Ki`: a size that was interpolated has three digits. */
const size = formatSizeTick

/** `avx2 beats scalar from 312 (260 to 390) elements`. */
export const sentenceOf = ({ at, a, b }: FoundCrossover): string => crossoverSentence(at, a.title, b.title, size)

interface Api {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
}

/**
 * A row for each pair that changes places: a band over the sizes both measured, in the colour of whichever is faster,
 * with the crossing and its interval, and the sentence above it. Undefined without any.
 */
export function crossoverOption(all: readonly FoundCrossover[], theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  const found = all.slice(0, MOST_CROSSOVERS)
  const x = logBounds(found.flatMap(({ from, to }) => [from, to]), 2)
  if (!x) return undefined
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const left = Math.min(24 + Math.max(...found.map(({ what }) => what.length)) * 6.2, width * 0.3)
  const drawRow = (params: { dataIndex: number }, api: Api) => {
    const one = found[params.dataIndex]!
    const y = api.coord([one.at.size, params.dataIndex])[1] + 7
    const at = (elements: number) => api.coord([elements, params.dataIndex])[0]
    const [winner, loser] = one.at.winner === 'a' ? [one.a, one.b] : [one.b, one.a]
    const band = (from: number, to: number, variant: { backend: string; impl: string }) => ({ type: 'rect' as const, shape: { x: at(from), y: y - 3, width: Math.max(0, at(to) - at(from)), height: 6 }, style: { fill: theme.colorOf(variant.backend, variant.impl), opacity: 0.75 } })
    const picked = selected.has(one.point.id)
    const ink = { stroke: theme.text, lineWidth: picked ? 2.5 : 1.5 }
    const [low, high] = [at(one.at.low ?? one.from), at(one.at.high ?? one.to)]
    const known = one.at.low !== undefined || one.at.high !== undefined
    const cap = (px: number) => ({ type: 'line' as const, shape: { x1: px, y1: y - 5, x2: px, y2: y + 5 }, style: ink })
    return {
      type: 'group' as const,
      children: [
        band(one.from, one.at.size, loser),
        band(one.at.size, one.to, winner),
        ...(known ? [{ type: 'line' as const, shape: { x1: low, y1: y, x2: high, y2: y }, style: ink }, ...(one.at.low === undefined ? [] : [cap(low)]), ...(one.at.high === undefined ? [] : [cap(high)])] : []),
        { type: 'circle' as const, shape: { cx: at(one.at.size), cy: y, r: picked ? 6 : 4.5 }, style: { fill: theme.surface, ...ink } },
        { type: 'text' as const, style: { text: sentenceOf(one), x: at(x.min) + 6, y: y - 21, fill: theme.text, stroke: theme.surface, lineWidth: 4, fontSize: 11, fontFamily: theme.fontText } },
      ],
    }
  }
  return {
    ...base,
    grid: { left, right: 28, top: 32, bottom: 10 },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { dataIndex: number }) => {
        const one = found[item.dataIndex]
        if (!one) return ''
        return tooltipHtml(`${one.what}: ${sentenceOf(one)}`, [
          ['Both take there', formatTime(one.at.ns)],
          ['Measured', `${size(one.from)} to ${size(one.to)} elements`],
          ['95 % CI', one.at.low === undefined && one.at.high === undefined ? '–' : `${one.at.low === undefined ? 'below the sizes measured' : size(one.at.low)} to ${one.at.high === undefined ? 'beyond the sizes measured' : size(one.at.high)}`],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 2, '', x, formatSizeTick), position: 'top' as const },
    yAxis: { ...style, type: 'category' as const, inverse: true, data: found.map(({ what }, i) => (found[i - 1]?.what === what ? '' : what)), axisTick: { show: false }, splitLine: { show: false }, axisLabel: { ...style.axisLabel, interval: 0, width: left - 16, overflow: 'truncate' as const, color: theme.text } },
    series: [
      {
        type: 'custom' as const,
        id: 'crossovers',
        data: found.map((one, row) => [one.at.size, row, one.point.id]),
        dimensions: ['size', 'row', 'id'],
        encode: { x: 0, y: 1 },
        clip: false,
        renderItem: drawRow,
      },
    ],
  }
}

/** Every crossover as CSV. */
export const crossoverCsv = (found: readonly FoundCrossover[]): string =>
  csvTable(
    ['case', 'faster_below', 'faster_above', 'size_elements', 'low_elements', 'high_elements', 'time_ns', 'measured_from', 'measured_to'],
    found.map((one) => {
      const [winner, loser] = one.at.winner === 'a' ? [one.a, one.b] : [one.b, one.a]
      return [one.what, loser.title, winner.title, one.at.size, one.at.low, one.at.high, one.at.ns, one.from, one.to]
    }),
  )
