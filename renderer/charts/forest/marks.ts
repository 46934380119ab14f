import type { Verdict } from '@core/compare'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ForestRow } from './rows'

/** One item of the plot: [ratio, row from the top, low, high, id]; NaN where there is no interval. */
export type Item = [ratio: number, row: number, low: number, high: number, id: string]

interface Api {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
  size(value: [number, number]): [number, number]
}

interface Params {
  dataIndex: number
  coordSys: { x: number; y: number; width: number; height: number }
}

/** Half the size of a mark in px. */
const R = 4

/** The mark of a verdict around (x, y): up and down triangles, a bar for same, a hollow circle for unclear. */
function shapeOf(verdict: Verdict, x: number, y: number, r: number, color: string, surface: string) {
  const filled = { fill: color, stroke: surface, lineWidth: 0.75 }
  if (verdict === 'ambiguous') return { type: 'circle' as const, shape: { cx: x, cy: y, r: r - 0.5 }, style: { fill: surface, stroke: color, lineWidth: 1.5 } }
  if (verdict === 'same') return { type: 'rect' as const, shape: { x: x - r + 1, y: y - r + 1, width: 2 * r - 2, height: 2 * r - 2 }, style: filled }
  const tip = verdict === 'faster' ? -1 : 1
  return { type: 'polygon' as const, shape: { points: [[x, y + tip * (r + 0.5)], [x - r - 0.5, y - tip * r], [x + r + 0.5, y - tip * r]] }, style: filled }
}

const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, lineWidth = 1.25) => ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth } })

/** Draws cases: a mark, and its interval where there is one. */
export const drawMark = (verdict: Verdict, color: string, marked: ReadonlySet<string>, data: readonly Item[], theme: ChartTheme) => (params: Params, api: Api) => {
  const [x, y] = api.coord([api.value(0), api.value(1)])
  const big = marked.has(data[params.dataIndex]?.[4] ?? '')
  const mark = shapeOf(verdict, x, y, big ? R + 2 : R, color, theme.surface)
  if (!(api.value(2) > 0)) return { type: 'group' as const, children: [mark] }
  const [low] = api.coord([api.value(2), api.value(1)])
  const [high] = api.coord([api.value(3), api.value(1)])
  return { type: 'group' as const, children: [line(low, y, high, y, color), line(low, y - 3, low, y + 3, color), line(high, y - 3, high, y + 3, color), mark] }
}

/** Draws the mean of an operation: a diamond as wide as its interval, and no narrower than can be seen. */
export const meanOf = (theme: ChartTheme) => (_params: Params, api: Api) => {
  const [x, y] = api.coord([api.value(0), api.value(1)])
  const known = api.value(2) > 0
  const [low] = known ? api.coord([api.value(2), api.value(1)]) : [x]
  const [high] = known ? api.coord([api.value(3), api.value(1)]) : [x]
  const [from, to] = [Math.min(low, x - 4), Math.max(high, x + 4)]
  return { type: 'polygon' as const, shape: { points: [[from, y], [x, y - 6.5], [to, y], [x, y + 6.5]] }, style: { fill: theme.text, stroke: theme.surface, lineWidth: 1, strokeFirst: true } }
}

/** Draws what is behind a row: nothing to be seen, but to be pointed at; the marked row and operations are tinted. */
export const stripeOf = (rows: readonly ForestRow[], marked: ReadonlySet<string>, theme: ChartTheme) => (params: Params, api: Api) => {
  const { x, width } = params.coordSys
  const [, y] = api.coord([1, api.value(1)])
  const height = api.size([0, 1])[1]
  const row = rows[params.dataIndex]
  const chosen = row !== undefined && marked.has(row.id)
  return {
    type: 'rect' as const,
    shape: { x, y: y - height / 2, width, height },
    style: chosen ? { fill: theme.accent, opacity: 0.16 } : row?.kind === 'group' && row.open ? { fill: theme.grid, opacity: 0.35 } : { fill: 'transparent' },
  }
}

/** Draws the significance threshold of a row's operation around 1x. */
export const bandOf = (theme: ChartTheme) => (_params: Params, api: Api) => {
  const [low, y] = api.coord([api.value(2), api.value(1)])
  const [high] = api.coord([api.value(3), api.value(1)])
  const height = api.size([0, 1])[1]
  return { type: 'rect' as const, shape: { x: low, y: y - height / 2, width: Math.max(1, high - low), height }, style: { fill: theme.muted, opacity: 0.22 } }
}
