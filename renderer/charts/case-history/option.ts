import { placeChanges, type CasePoint } from '@core/analysis/case-history'
import type { Changes } from '@core/analysis/change-points'
import { csvTable } from '@core/csv'
import { extent, quantileOfSorted, sorted } from '@core/stats/descriptive'
import { formatInterval, formatPercent, formatTime } from '@core/units'
import { dayText, fullDate } from '../../lib/session-words'
import { axisStyle, timeTick } from '../drawing/option/axes'
import { drawWhisker, frame, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'

/** One drawn point: [time in ms, median, low, high, its index]; `low` and `high` are NaN where there is no interval. */
export type CaseDatum = [x: number, medianNs: number, lowNs: number, highNs: number, index: number]

const DIMENSIONS = ['x', 'median', 'low', 'high', 'index']

/**
 * With more points than this those that look alike are painted at once, without an element each, and the ends of intervals,
 * which would lie over each other, are left out: all are one line with gaps.
 */
const CROWDED = 300

/** `+8.0 %`. */
const changeText = (ratio: number): string => `${ratio >= 1 ? '+' : '-'}${formatPercent(Math.abs(ratio - 1))}`

/** Sessions within less than this are of one moment. */
const MOMENT_MS = 3_600_000

/**
 * One case over all sessions: median against the time of the session with its interval, the levels that `changes`
 * found with the size of each change, and where the environment changed. Grade C and outliers are hollow; what lies far
 * beyond the others is an arrow at the edge with its value. `picked`: sessions drawn larger, which come first, so that they
 * are found there. Data of all points are typed arrays, which the library takes as they are instead of copying every number.
 * Undefined without points.
 */
export function caseHistoryOption(points: readonly CasePoint[], changes: Changes, theme: ChartTheme, color: string, picked: ReadonlySet<string> = new Set()) {
  const data = points.map((point, i): CaseDatum => [Date.parse(point.createdAt), point.medianNs, point.ciLowNs ?? NaN, point.ciHighNs ?? NaN, i])
  if (data.length === 0) return undefined
  const base = frame(theme, [])
  const style = axisStyle(theme)
  const outliers = new Set(changes.outliers)
  const places = placeChanges(points)
  const label = { color: theme.text, fontSize: 11, opacity: 1, textBorderColor: theme.surface, textBorderWidth: 3, formatter: '{b}', lineHeight: 14 }
  const { min, max, above, below } = axisRange(data.map(([, medianNs, lowNs, highNs]) => ({ medianNs, lowNs, highNs })), changes)
  const middle = (data[0]![0] + data.at(-1)![0]) / 2
  // Around sessions of one moment the library would lay years.
  const [firstDay, lastDay] = [dayText(points[0]!.createdAt), dayText(points.at(-1)!.createdAt)]
  const isMoment = data.at(-1)![0] - data[0]![0] < MOMENT_MS
  /** An arrow at the edge that its point lies beyond. */
  const arrow = (i: number, edge: number) => {
    const [x, medianNs, low, high] = data[i]!
    return { value: [x, edge, low, high, i] as CaseDatum, symbolRotate: edge === max ? 0 : 180, symbolOffset: [0, edge === max ? 7 : -7], label: { position: x > middle ? ('left' as const) : ('right' as const), formatter: formatTime(medianNs) } }
  }
  return {
    ...base,
    grid: { left: 78, right: 24, top: 48, bottom: 44 },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: CaseDatum }) => {
        const i = item.value[4]
        const point = points[i]!
        const change = changes.changes.find(({ at }) => at === i)
        return tooltipHtml(point.name, [
          ['Date', fullDate(point.createdAt)],
          ['Median', formatTime(point.medianNs)],
          ...(point.ciLowNs === undefined || point.ciHighNs === undefined ? [] : [['95 % CI', `${formatTime(point.ciLowNs)} to ${formatTime(point.ciHighNs)} (${formatInterval(point.medianNs, point.ciLowNs, point.ciHighNs)})`] as const]),
          ['Grade', point.grade ?? '–'],
          ...(point.results > 1 ? [['Measured', `${point.results} times`] as const] : []),
          ...(change ? [['Change here', `${changeText(change.ratio)} (${changeText(change.low)} to ${changeText(change.high)})`] as const] : []),
          ...(outliers.has(i) ? [['', 'Outlier: not counted as a change'] as const] : []),
          ...(above.has(i) || below.has(i) ? [['', 'Beyond the axis'] as const] : []),
          ...(places.find(({ at }) => at === i)?.facts.map((fact) => ['Environment', fact] as const) ?? []),
        ])
      },
    },
    xAxis: { ...style, type: 'time' as const, name: firstDay === lastDay ? `Time of the session, ${firstDay}` : 'Date of the session', nameGap: 28, boundaryGap: ['2%', '4%'] as [string, string], ...(isMoment ? { min: middle - MOMENT_MS, max: middle + MOMENT_MS } : {}), splitLine: { show: false } },
    yAxis: { ...style, type: 'value' as const, name: 'Median time per call', nameGap: 60, min, max, axisLabel: { ...style.axisLabel, formatter: timeTick({ min, max }), showMinLabel: false, showMaxLabel: false } },
    series: [
      {
        type: 'scatter' as const,
        id: 'marked',
        name: 'Median',
        color,
        symbolSize: 7,
        z: 4,
        data: data.flatMap((value, i) => {
          const hollow = outliers.has(i) || points[i]!.grade === 'C'
          const isPicked = picked.has(points[i]!.sessionId)
          if (!hollow && !isPicked) return []
          return { value, ...(isPicked ? { symbolSize: 12 } : {}), itemStyle: hollow ? { color: theme.surface, borderColor: color, borderWidth: 1.5 } : { color, borderColor: theme.text, borderWidth: 2 } }
        }),
      },
      {
        type: 'scatter' as const,
        id: 'medians',
        name: 'Median',
        data: flat(data),
        dimensions: DIMENSIONS,
        large: data.length > CROWDED,
        largeThreshold: CROWDED,
        symbolSize: 7,
        itemStyle: { color },
        color,
        z: 3,
      },
      {
        type: 'line' as const,
        id: 'path',
        name: 'Median',
        data: flat(data.map(([x, medianNs]) => [x, medianNs])),
        dimensions: DIMENSIONS.slice(0, 2),
        silent: true,
        showSymbol: false,
        tooltip: { show: false },
        lineStyle: { width: 1, color, opacity: 0.35 },
        z: 2,
        markLine: {
          silent: true,
          symbol: 'none',
          data: [
            ...changes.changes.map(({ at, ratio }) => ({ xAxis: data[at]![0], name: `${changeText(ratio)}\n${dayText(points[at]!.createdAt)}`, lineStyle: { color: theme.text, width: 1.25, type: 'solid' as const, opacity: 0.7 }, label: { ...label, position: 'end' as const } })),
            ...places.map(({ at, facts }) => ({ xAxis: data[at]![0], name: facts.map((fact) => fact.slice(0, fact.indexOf(':'))).slice(0, 2).join(', ') + (facts.length > 2 ? ', …' : ''), lineStyle: { color: theme.muted, width: 1, type: 'dotted' as const }, label: { ...label, color: theme.muted, position: 'insideStartTop' as const, rotate: 90 } })),
          ],
        },
      },
      {
        type: 'scatter' as const, id: 'beyond', name: 'Beyond the axis', symbol: 'triangle', symbolSize: 10, color, clip: false, z: 4,
        label: { show: true, color: theme.text, fontSize: 11, textBorderColor: theme.surface, textBorderWidth: 3 },
        labelLayout: { hideOverlap: true },
        data: [...[...above].map((i) => arrow(i, max)), ...[...below].map((i) => arrow(i, min))],
      },
      // Levels between changes.
      ...changes.segments.map(({ first, last, levelNs }) => ({
        type: 'line' as const, id: `level ${first}`, name: 'Level', silent: true, showSymbol: false, tooltip: { show: false }, z: 2,
        data: [[data[first]![0], levelNs], [data[last]![0], levelNs]], lineStyle: { color: theme.accent, width: 2, opacity: 0.8 },
      })),
      data.length > CROWDED ? crowdedIntervals(data, color) : {
        type: 'custom' as const, id: 'intervals', name: 'Interval', silent: true, tooltip: { show: false }, z: 1, clip: true,
        data: data.filter(([, , low, high]) => low > 0 && high > 0).map(([x, , low, high]) => [x, low, high]),
        dimensions: ['x', 'low', 'high'],
        encode: { x: 0, y: [1, 2] },
        renderItem: drawWhisker(color),
      },
    ],
  }
}

const flat = (rows: readonly (readonly number[])[]) => Float64Array.from(rows.flat())

/** The intervals of thousands of points as one line from low to high of each: an element for each takes longer than all the rest. */
const crowdedIntervals = (data: readonly CaseDatum[], color: string) => ({
  type: 'line' as const, id: 'intervals', name: 'Interval', silent: true, showSymbol: false, tooltip: { show: false }, z: 1,
  data: flat(data.filter(([, , low, high]) => low > 0 && high > 0).map(([x, , low, high]) => [x, low, x, high, x, NaN])),
  dimensions: ['x', 'end'],
  lineStyle: { width: 1, color, opacity: 0.8 },
})

/** What the chart shows, as CSV. */
export function caseHistoryCsv(points: readonly CasePoint[], changes: Changes): string {
  const titles = [...new Set(points.flatMap(({ place }) => place.map(([title]) => title)))]
  return csvTable(
    ['session_id', 'session', 'created_at', 'median_ns', 'ci_low_ns', 'ci_high_ns', 'grade', 'results', 'change_ratio', 'outlier', ...titles.map((title) => title.toLowerCase().replaceAll(' ', '_'))],
    points.map((point, i) => {
      const place = new Map(point.place)
      return [point.sessionId, point.name, point.createdAt, point.medianNs, point.ciLowNs, point.ciHighNs, point.grade, point.results, changes.changes.find(({ at }) => at === i)?.ratio, changes.outliers.includes(i) ? 'yes' : '', ...titles.map((title) => place.get(title))]
    }),
  )
}

/** A median with its interval, ns; an end is NaN where there is none. */
export interface Extent {
  medianNs: number
  lowNs: number
  highNs: number
}

/** Ends of the axis in ns, and the indices of points whose medians lie beyond them. */
export interface AxisRange {
  min: number
  max: number
  above: ReadonlySet<number>
  below: ReadonlySet<number>
}

/** Fewer points than this have no quartiles worth a fence. */
const MIN_POINTS = 4
/** Interquartile ranges outside the quartiles beyond which Tukey (1977) calls a point far out. */
const FAR_OUT = 3
/** What lies beyond the fences stays in view unless it makes the axis longer than this many times the rest. */
const STRETCH = 3
/** Medians closer than this share of each other count as spread by it: a flat series has room for its next point. */
const MIN_SPREAD = 0.01

/** Ratios to the level that holds at each point; to 1 ns where no level was found. As logarithms. */
function overLevels(points: readonly Extent[], { segments }: Changes): number[] {
  return points.map(({ medianNs }, i) => Math.log(medianNs / (segments.findLast(({ first }) => first <= i) ?? segments[0] ?? { levelNs: 1 }).levelNs))
}

/**
 * An axis that a single far-out point cannot stretch: it holds all levels, and the medians and intervals within Tukey's
 * outer fences about them, with a little room and never below zero. Points beyond are on it as well where it stays readable.
 */
export function axisRange(points: readonly Extent[], changes: Changes): AxisRange {
  const all = extent(points.flatMap(({ medianNs, lowNs, highNs }) => [medianNs, lowNs, highNs]))
  const near = points.length < MIN_POINTS ? all : withoutFarOut(points, changes)
  const [low, high] = all[1] - all[0] <= STRETCH * Math.max(near[1] - near[0], near[1] * MIN_SPREAD) ? all : near
  const room = Math.max((high - low) * 0.12, high * 0.005)
  const [min, max] = [Math.max(0, low - room), high + room]
  const where = (beyond: (medianNs: number) => boolean) => new Set(points.flatMap(({ medianNs }, i) => (beyond(medianNs) ? [i] : [])))
  return { min, max, above: where((median) => median > max), below: where((median) => median < min) }
}

function withoutFarOut(points: readonly Extent[], changes: Changes): [number, number] {
  const ratios = overLevels(points, changes)
  const ascending = sorted(ratios)!
  const [q1, q3] = [quantileOfSorted(ascending, 0.25), quantileOfSorted(ascending, 0.75)]
  const far = FAR_OUT * Math.max(q3 - q1, MIN_SPREAD / 2)
  const [lower, upper] = [q1 - far, q3 + far]
  const kept = points.flatMap(({ medianNs, lowNs, highNs }, i) => {
    const ratio = ratios[i]!
    if (ratio < lower || ratio > upper) return []
    // The ends of an interval may be far out where its median is not.
    const fence = (limit: number) => medianNs * Math.exp(limit - ratio)
    return [medianNs, Math.max(lowNs, fence(lower)), Math.min(highNs, fence(upper))]
  })
  return extent([...kept, ...changes.segments.map(({ levelNs }) => levelNs)])
}
