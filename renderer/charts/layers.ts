import { groupSeries, type ChartSeries } from './series'
import { thinSeries } from './thin'
import type { ChartContext, Picture } from './unit'

/** Session names longer than this are cut in labels. */
const NAME_LENGTH = 28

export const shortName = (name: string): string => (name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1).trimEnd()}…` : name)

export interface Lines {
  /** All series that have a place, with every point: for exports. */
  series: readonly ChartSeries[]
  /** What is drawn of them. */
  drawn: readonly ChartSeries[]
  /** What is not, in words. */
  note?: Picture['note']
}

/** Series against size of the session on show and of those laid over it, which carry their session's name. At most `limit`, and of each of the others no more than `ofOthers`. */
export function linesOf(context: Pick<ChartContext, 'points' | 'others' | 'selected'>, limit: number, ofOthers = 8): Lines {
  const own = groupSeries(context.points, limit)
  const others = context.others.flatMap((layer, i) => {
    const { series } = groupSeries(layer.points, ofOthers)
    return series.map((one) => ({ ...one, key: `${layer.id}|${one.key}`, label: `${one.label} · ${shortName(layer.name)}`, layer: i + 1 }))
  })
  const series = [...own.series, ...others]
  const { series: drawn, hidden } = thinSeries(series, context.selected)
  if (own.omitted) return { series, drawn, note: { text: `First ${own.series.length} of ${own.series.length + own.omitted} series` } }
  if (hidden) return { series, drawn, note: { text: `${hidden.toLocaleString('en-US')} points between the extremes are not drawn`, about: 'Of neighbouring sizes the fastest and the slowest are drawn; CSV has every point' } }
  return { series, drawn }
}
