import { csvTable } from '@core/csv'
import { formatPercent, formatRatio, formatSizeTick, formatTime } from '@core/units'
import { axisStyle } from '../axes'
import { frame, intervalText, tooltipHtml } from '../drawing/frame'
import { colorAt, diverging, inkOn, SEQUENTIAL } from '../drawing/theme'
import type { ChartTheme } from '../types'
import type { Grid } from './chart'

/** What the cells show: a share of what the device allows, how many times as fast as the baseline, or the spread of the samples. */
export type Shown = 'share' | 'speedup' | 'spread'

const ROW_PX = 19
const MARGINS_PX = 62

/** Height in px that so many rows need. */
export const heatMapHeight = (rows: number): number => rows * ROW_PX + MARGINS_PX

const TITLES: Readonly<Record<Shown, string>> = { share: 'Of the measured ceiling', speedup: 'Speedup', spread: 'Spread of the samples (MAD)' }
const WORDS: Readonly<Record<Shown, (value: number) => string>> = { share: formatPercent, speedup: formatRatio, spread: formatPercent }
/** Short enough for a cell: `87 %`, `2.0x`, `240x`. */
const SHORT: Readonly<Record<Shown, (value: number) => string>> = {
  share: (value) => `${Math.round(value * 100)} %`,
  speedup: (value) => `${value >= 99.5 ? Math.round(value).toLocaleString('en') : value.toPrecision(2)}x`,
  spread: (value) => `${(value * 100).toFixed(value < 0.0995 ? 1 : 0)} %`,
}

/** Ends of the colours on the scale of `scaled`. Speedups are symmetric around none, so that the neutral colour stands for it. */
function colours(shown: Shown, values: readonly number[], theme: ChartTheme) {
  const most = values.reduce((a, b) => Math.max(a, b), 0)
  if (shown === 'speedup') {
    const reach = values.reduce((top, value) => Math.max(top, Math.abs(Math.log2(value))), 0.1)
    return { palette: diverging(theme), min: -reach, max: reach, scaled: Math.log2, words: (value: number) => `${Number((2 ** value).toPrecision(2))}x` }
  }
  // Above its ceiling a case is answered from caches: one colour for all of that.
  const max = shown === 'share' ? 1 : Math.max(most, 0.01)
  return { palette: SEQUENTIAL, min: 0, max, scaled: (value: number) => Math.min(value, max), words: (value: number) => `${Number((value * 100).toPrecision(2))} %` }
}

/** Cells narrower than the text of a value plus this are left without it, in px. */
const TEXT_MARGIN = 6

/** Operations against sizes, a value as the colour and, where it fits, the text of each cell. Undefined for an empty grid. `width` of the plot in px. */
export function heatMapOption(grid: Grid, shown: Shown, baseline: string, theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  if (!grid.cells.length) return undefined
  const values = grid.cells.map((cell) => cell.value)
  const scale = colours(shown, values, theme)
  const left = Math.min(28 + Math.max(...grid.rows.map((row) => row.length)) * 6.2, width * 0.36)
  const texts = grid.cells.map((cell) => SHORT[shown](cell.value))
  const fits = (width - left - 24) / grid.sizes.length >= Math.max(...texts.map((text) => text.length)) * 6 + TEXT_MARGIN
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const title = shown === 'speedup' ? `Speedup against ${baseline}` : TITLES[shown]
  const cellOf = new Map(grid.cells.map((cell) => [cell.point.id, cell]))
  return {
    ...base,
    grid: { left, right: 24, top: 52, bottom: 10 },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: [number, number, number, string] }) => {
        const cell = cellOf.get(item.value[3])
        if (!cell) return ''
        const size = grid.sizes[cell.column]!
        return tooltipHtml(grid.rows[cell.row]!, [
          ['Size', cell.count > 1 ? `${formatSizeTick(size)} to ${formatSizeTick(size * 2)}, ${cell.count} results` : `${size.toLocaleString('en')} elements`],
          [cell.count > 1 ? `${title}, geometric mean` : title, WORDS[shown](cell.value)],
          ...(cell.count > 1 ? [] : [['Median', formatTime(cell.point.medianNs)] as const, ['95 % CI', intervalText(cell.point)] as const]),
          ['Grade', cell.point.grade ?? '–'],
        ])
      },
    },
    visualMap: {
      type: 'continuous' as const, min: scale.min, max: scale.max, dimension: 2, calculable: false, orient: 'horizontal' as const, top: 6, right: 24, itemWidth: 10, itemHeight: Math.min(220, width * 0.24),
      inRange: { color: [...scale.palette] }, text: [scale.words(scale.max), scale.words(scale.min)], textStyle: { color: theme.muted, fontSize: 11 }, textGap: 8, padding: 0,
    },
    title: { text: `${title}, by size in elements`, left: 8, top: 4, textStyle: { color: theme.text, fontSize: 12, fontWeight: 600 as const, fontFamily: theme.fontText } },
    xAxis: { ...style, type: 'category' as const, data: grid.sizes.map(formatSizeTick), position: 'top' as const, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { ...style.axisLabel, hideOverlap: true } },
    yAxis: { ...style, type: 'category' as const, inverse: true, data: grid.rows, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { ...style.axisLabel, interval: 0, width: left - 16, overflow: 'truncate' as const, color: theme.text } },
    series: [
      {
        type: 'heatmap' as const,
        id: 'cells',
        // The frame of a selected cell lies over its neighbours.
        data: grid.cells.map((cell, i) => {
          const at = scale.scaled(cell.value)
          const fill = colorAt(scale.palette, (at - scale.min) / (scale.max - scale.min))
          return {
            value: [cell.column, cell.row, at, cell.point.id],
            itemStyle: selected.has(cell.point.id) ? { borderColor: theme.accent, borderWidth: 3 } : { borderColor: theme.surface, borderWidth: 1 },
            label: { show: fits, formatter: texts[i]!, color: inkOn(fill), fontSize: 11, fontFamily: theme.fontText },
          }
        }).sort((a, b) => Number(selected.has(String(a.value[3]))) - Number(selected.has(String(b.value[3])))),
        dimensions: ['column', 'row', 'value', 'id'],
        encode: { x: 0, y: 1 },
        emphasis: { itemStyle: { borderColor: theme.text, borderWidth: 2 } },
      },
    ],
  }
}

/** Every cell as CSV. */
export const heatMapCsv = (grid: Grid, title: string): string =>
  csvTable(
    ['row', 'size_elements', title, 'results', 'median_ns'],
    grid.cells.map((cell) => [grid.rows[cell.row], grid.sizes[cell.column], cell.value, cell.count, cell.count > 1 ? undefined : cell.point.medianNs]),
  )
