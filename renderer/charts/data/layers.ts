import { groupSeries, type ChartSeries } from './series'
import type { ChartContext, Picture } from '../unit'
import { formatInteger } from '@core/units'

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
    return series.map((one) => ({ ...one, key: `${layer.id}|${one.key}`, label: `${one.label} · ${shortName(layer.name)}`, suffix: shortName(layer.name), layer: i + 1 }))
  })
  const series = [...own.series, ...others]
  const { series: drawn, hidden } = thinSeries(series, context.selected)
  if (own.omitted) return { series, drawn, note: { text: `First ${own.series.length} of ${own.series.length + own.omitted} series` } }
  if (hidden) return { series, drawn, note: { text: `${formatInteger(hidden)} points between the extremes are not drawn`, about: 'Of neighbouring sizes the fastest and the slowest are drawn; CSV has every point' } }
  return { series, drawn }
}

/** Points that a chart draws in all; beyond some thousands marks cover each other and drawing takes longer than a frame. */
const MAX_DRAWN = 2400
/** No series is thinned below this. */
const MIN_DRAWN = 40

type Points = ChartSeries['points']

/**
 * Series with at most `max` points in all. Of each run of neighbouring sizes the fastest and the slowest point stay,
 * so that the envelope and every spike are drawn (min-max aggregation; U. Jugel et al., "M4", 2014), as do the
 * first, the last and the kept ones. Series that are short enough are returned as they are.
 */
export function thinSeries(series: readonly ChartSeries[], kept: ReadonlySet<string>, max = MAX_DRAWN): { series: readonly ChartSeries[]; hidden: number } {
  const each = Math.max(MIN_DRAWN, Math.floor(max / Math.max(1, series.length)))
  let hidden = 0
  const thinned = series.map((one) => {
    if (one.points.length <= each) return one
    const points = extremes(one.points, Math.max(1, Math.floor((each - 2) / 2)), kept)
    hidden += one.points.length - points.length
    return { ...one, points }
  })
  return { series: thinned, hidden }
}

function extremes(points: Points, runs: number, kept: ReadonlySet<string>): Points {
  const ns = (i: number) => points[i]!.point.medianNs
  const chosen = new Set([0, points.length - 1])
  for (let run = 0; run < runs; run++) {
    const from = Math.floor((points.length * run) / runs)
    const to = Math.floor((points.length * (run + 1)) / runs)
    let [low, high] = [from, from]
    for (let i = from; i < to; i++) {
      if (ns(i) < ns(low)) low = i
      if (ns(i) > ns(high)) high = i
    }
    chosen.add(low).add(high)
  }
  if (kept.size > 0) points.forEach(({ point }, i) => kept.has(point.id) && chosen.add(i))
  return [...chosen].sort((a, b) => a - b).map((i) => points[i]!)
}
