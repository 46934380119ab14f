import { multiplesOf } from '@core/analysis/multiples'
import type { Narrowing } from '../unit'
import { renamed, type ChartSeries, type Facet } from '../data/series'

/** One plot of several beside each other, in px. */
export interface Panel {
  title: string
  series: ChartSeries[]
  left: number
  top: number
  width: number
  height: number
}

export interface Panels {
  panels: Panel[]
  /** Every series as it is named in its panel. */
  series: ChartSeries[]
  /** Px that all of them need. */
  height: number
  /** Px from one row of panels to the next: whole rows fill the pane below what is above them. */
  rowHeight?: number
}

/** What small multiples are split by, in this order. */
const SPLIT: readonly Facet[] = ['op', 'mode', 'dtype', 'threads']

/** Several operations are shown beside each other, in one mode and dtype at first. */
export const MULTIPLES: Narrowing = { readable: 72, facets: ['mode', 'dtype', 'threads', 'op'], frequent: true }

/** More series than this are not drawn. */
export const MAX_LINES = 96

const LEFT_PX = 64
/** Room for the largest mark at the last size, and for the scroll bar that appears beside more than one row. */
const RIGHT_PX = 24
const TITLE_PX = 22
const TICKS_PX = 24
const LEAST_WIDTH = 280
/** Of a row of panels with its title and ticks, where several are in sight at a time, and where the pane shows one. */
const LEAST_HEIGHT = 240
const LEAST_ALONE = 180

/**
 * Series as small multiples: a plot by operation, mode, dtype and thread count where one plot had more series than can be told apart; of these
 * as few facets as it takes. `top`: px above them all.
 */
export function panelsOf(series: readonly ChartSeries[], size: { width: number; height: number }, top: (labels: readonly string[]) => number): Panels {
  const { multiples, split } = multiplesOf(series, SPLIT.map((id) => ({ id, valueOf: ({ facets }: ChartSeries) => facets[id] })))
  if (multiples.length < 2) return { panels: [], series: [...series], height: size.height }
  const named = new Map(renamed(series, split as Facet[]).map((one) => [one.key, one]))
  const above = top([...new Set([...named.values()].map(({ label }) => label))])
  const columns = Math.max(1, Math.min(multiples.length, Math.floor(size.width / LEAST_WIDTH), 4))
  const rows = Math.ceil(multiples.length / columns)
  // As many whole rows as the pane shows at a time, so that none is cut between its title and its axis.
  const inSight = Math.max(1, Math.min(rows, Math.floor((size.height - above) / LEAST_HEIGHT)))
  const height = Math.max(LEAST_ALONE, (size.height - above) / inSight)
  const width = size.width / columns
  const panels = multiples.map(({ title, items }, i): Panel => ({
    title,
    series: items.map(({ key }) => named.get(key)!),
    left: (i % columns) * width + LEFT_PX,
    top: above + Math.floor(i / columns) * height + TITLE_PX,
    width: width - LEFT_PX - RIGHT_PX,
    height: height - TITLE_PX - TICKS_PX,
  }))
  return { panels, series: [...named.values()], height: above + rows * height, rowHeight: height }
}
