import type { CaseRuns } from '@core/analysis/case-runs'
import { csvTable } from '@core/csv'
import { extent } from '@core/stats/descriptive'
import { formatInterval, formatTime } from '@core/units'
import { axisStyle, timeTick } from '../drawing/option/axes'
import { drawWhisker, frame, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'

/**
 * The runs of a case in the order taken, each with the interval of its own samples, over the band of the interval whose
 * unit is the run. `current`: the result that is open, ringed.
 */
export function runsOption({ runs, medianNs, interval }: CaseRuns, theme: ChartTheme, color: string, current?: string) {
  const base = frame(theme, [])
  const style = axisStyle(theme)
  const whiskers = runs.flatMap(({ ciLowNs, ciHighNs }, i) => (ciLowNs === undefined || ciHighNs === undefined ? [] : [[i + 1, ciLowNs, ciHighNs]]))
  const ends = [interval.low, interval.high, ...runs.map((run) => run.medianNs), ...whiskers.flatMap(([, low, high]) => [low!, high!])]
  const [low, high] = extent(ends)
  const room = Math.max((high - low) * 0.1, medianNs * 1e-4)
  const range = { min: Math.max(0, low - room), max: high + room }
  return {
    ...base,
    grid: { left: 64, right: 12, top: 8, bottom: 34 },
    tooltip: {
      ...base.tooltip,
      formatter: ({ value: [x] }: { value: [number, number, string] }) => {
        const run = runs[x - 1]!
        return tooltipHtml(`Run ${x} of ${runs.length}`, [['Median', formatTime(run.medianNs)], ['Its own interval', formatInterval(run.medianNs, run.ciLowNs, run.ciHighNs)]])
      },
    },
    xAxis: { ...style, type: 'value' as const, name: 'Run, in the order taken', nameGap: 22, min: 0.5, max: runs.length + 0.5, splitLine: { show: false }, axisTick: { ...style.axisTick, customValues: wholeTicks(runs.length) }, axisLabel: { ...style.axisLabel, customValues: wholeTicks(runs.length) } },
    yAxis: { ...style, type: 'value' as const, ...range, splitNumber: 3, axisLabel: { ...style.axisLabel, formatter: timeTick(range), showMinLabel: false, showMaxLabel: false } },
    series: [
      {
        type: 'scatter' as const,
        id: 'runs',
        name: 'Run',
        symbolSize: 7,
        z: 3,
        cursor: 'pointer',
        itemStyle: { color },
        data: runs.map(({ id, medianNs: ns }, i) => ({ value: [i + 1, ns, id] as [number, number, string], ...(id === current ? { symbolSize: 10, itemStyle: { color, borderColor: theme.text, borderWidth: 2 } } : {}) })),
        markArea: { silent: true, itemStyle: { color: theme.accent, opacity: 0.14 }, data: [[{ yAxis: interval.low }, { yAxis: interval.high }]] as [{ yAxis: number }, { yAxis: number }][] },
        markLine: { silent: true, symbol: 'none', lineStyle: { color: theme.accent, width: 1, type: 'solid' as const }, label: { show: false }, data: [{ yAxis: medianNs }] },
      },
      { type: 'custom' as const, id: 'intervals', name: 'Interval of one run', silent: true, tooltip: { show: false }, z: 2, clip: true, data: whiskers, dimensions: ['x', 'low', 'high'], encode: { x: 0, y: [1, 2] }, renderItem: drawWhisker(color) },
    ],
  }
}

/** Up to eight whole numbers from 1, evenly apart. */
const wholeTicks = (count: number): number[] => {
  const step = Math.ceil(count / 8)
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => 1 + i * step)
}

/** What the figure shows, in words. */
export const runsText = ({ runs, medianNs, interval }: CaseRuns): string =>
  `Medians of ${runs.length} runs in the order taken: ${runs.map((run) => formatTime(run.medianNs)).join(', ')}. Their median is ${formatTime(medianNs)}, its 95 % CI ${formatTime(interval.low)} to ${formatTime(interval.high)}.`

/** The runs as CSV. */
export const runsCsv = ({ runs }: CaseRuns): string => csvTable(['run', 'result', 'median_ns', 'ci_low_ns', 'ci_high_ns'], runs.map((run, i) => [i + 1, run.id, run.medianNs, run.ciLowNs, run.ciHighNs]))
