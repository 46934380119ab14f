import { sideText, thresholdFor, VERDICT_WORDS, VERDICTS, type CompareCell, type Comparison, type SideSummary, type Verdict } from '@core/compare'
import { csvTable } from '@core/csv'
import { shortHardware } from '@core/session/hardware-name'
import { formatRatio, formatRatioRange, formatTime } from '@core/units'
import { axisStyle } from '../drawing/option/axes'
import { factorAxis, factorExtent, factorTicks } from '../drawing/option/factor-axis'
import { frame, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import { bandOf, drawMark, meanOf, stripeOf, type Item } from './marks'
import type { ForestRow } from './rows'

const ROW_PX = 20
const TOP_PX = 46
const BOTTOM_PX = 8
/** Least width of one side's plot, so that its axis can be read. */
const SIDE_PX = 168
const GAP_PX = 18

/** What the plot is drawn from. */
export interface ForestContext {
  comparison: Comparison
  rows: readonly ForestRow[]
  /** How the row of a case is called. */
  nameOf: (row: Comparison['rows'][number]) => string
  /** Ids of rows that are marked, such as the selected one. */
  marked: ReadonlySet<string>
  theme: ChartTheme
  width: number
}

/** The colour of each verdict. */
const colorsOf = (theme: ChartTheme): Record<Verdict, string> => ({ faster: theme.good, slower: theme.danger, same: theme.muted, ambiguous: theme.warning })

/** How the sides are laid out: so many beside each other, in so many blocks above each other. `longest`: characters of the longest name of a row. */
export function layoutOf(sides: number, rows: number, width: number, longest: number) {
  const left = Math.min(longest * 6.2 + 40, Math.max(150, width * 0.3))
  // One side has room for its figures in words at the right.
  const right = sides === 1 ? (width > 620 ? 196 : 84) : 16
  const columns = Math.max(1, Math.min(sides, Math.floor((width - left - right + GAP_PX) / (SIDE_PX + GAP_PX))))
  const blocks = Math.ceil(sides / columns)
  const plot = (width - left - right - GAP_PX * (columns - 1)) / columns
  const block = TOP_PX + rows * ROW_PX + BOTTOM_PX
  return {
    height: block * blocks,
    blocks,
    grids: Array.from({ length: sides }, (_, i) => ({ left: left + (i % columns) * (plot + GAP_PX), top: Math.floor(i / columns) * block + TOP_PX, width: plot, height: rows * ROW_PX, first: i % columns === 0 })),
    labels: left - 12,
  }
}

/** Characters of the longest name of these rows. */
export const longestOf = (rows: readonly ForestRow[], nameOf: ForestContext['nameOf']): number => rows.reduce((most, row) => Math.max(most, row.kind === 'group' ? row.group.key.length + 4 : nameOf(row.row).length), 12)

/** Where row `at` lies in the first block, in px from the top. */
export const rowSpan = (at: number): { top: number; bottom: number } => ({ top: at === 0 ? 0 : TOP_PX + at * ROW_PX, bottom: TOP_PX + (at + 1) * ROW_PX })

/** What the markup of labels is made of cannot stand in a name. */
const clean = (text: string) => text.replace(/[{}|]/g, ' ')

/** `1.19x ▲ faster`. */
const cellWords = ({ speedup, verdict }: CompareCell) => `${formatRatio(speedup)}${verdict ? ` ${VERDICT_WORDS[verdict].sign} ${VERDICT_WORDS[verdict].word}` : ''}`
/** `1.04x ▲12 ▼1 =3 ?4`, without verdicts that do not occur. */
const meanWords = ({ speedup, counts }: SideSummary) => `${formatRatio(speedup)}  ${VERDICTS.filter((verdict) => counts[verdict]).map((verdict) => `${VERDICT_WORDS[verdict].sign}${counts[verdict]}`).join(' ')}`

const interval = formatRatioRange

/**
 * A forest plot: speedups with their 95 % intervals on a logarithmic axis, operation by operation, each operation's geometric mean as a
 * diamond. Closed operations show their cases as marks without intervals. A band around 1x is the significance threshold. Sides
 * are plots beside each other with one scale. Every item's value ends in the id of its result, or of its row. Undefined without rows.
 */
export function forestOption({ comparison, rows, nameOf, marked, theme, width }: ForestContext) {
  if (!rows.length) return undefined
  const sides = comparison.sessions.map((_, i) => i).slice(1)
  const title = `Speedup over ${clean(shortHardware(sideText(comparison, 0)))}`
  const { grids, labels } = layoutOf(sides.length, rows.length, width, Math.max(longestOf(rows, nameOf), title.length))
  const colors = colorsOf(theme)
  const thresholds = { threshold: comparison.threshold, byOp: comparison.opThresholds }
  const opOf = (row: ForestRow) => (row.kind === 'group' ? row.group.key : row.row.case.op)
  const cells = sides.flatMap((side) => rows.flatMap((row) => (row.kind === 'group' ? row.group.rows : [row.row]).flatMap(({ cells: own }) => (own[side]?.speedup === undefined ? [] : [{ ratio: own[side].speedup, low: own[side].speedupLow, high: own[side].speedupHigh }]))))
  const scale = factorAxis(factorExtent(cells), 1.02, Math.max(3, Math.floor(grids[0]!.width / 48)))
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const byId = new Map(rows.map((row) => [row.id, row]))
  const found = new Map(rows.flatMap((row) => (row.kind === 'group' ? row.group.rows : [row.row])).flatMap((row) => sides.flatMap((side) => (row.cells[side] ? [[row.cells[side].resultId, { row, side }] as const] : []))))
  const wordsOf = (row: ForestRow, side: number) => {
    const one = row.kind === 'group' ? row.group.sides[side] : row.row.cells[side]
    return one?.speedup === undefined ? '' : row.kind === 'group' ? meanWords(one as SideSummary) : cellWords(one as CompareCell)
  }
  const toneOf = (row: ForestRow, side: number) => {
    const verdict = row.kind === 'case' ? row.row.cells[side]?.verdict : undefined
    return verdict ? `{${verdict}|` : row.kind === 'group' ? '{group|' : '{plain|'
  }
  const rich = { group: { fontWeight: 600 as const, color: theme.text }, plain: { color: theme.muted }, ...Object.fromEntries(VERDICTS.map((verdict) => [verdict, { color: colors[verdict] }])) }
  const labelOf = (id: string) => {
    const row = byId.get(id)
    if (row?.kind === 'group') return `{group|${row.open ? '▾' : '▸'} ${clean(row.group.key)}}  {plain|${row.group.rows.length}}`
    return row ? `{plain|    ${clean(nameOf(row.row))}}` : ''
  }
  const category = (gridIndex: number, side: number, own: boolean) => ({
    ...style, type: 'category' as const, inverse: true, gridIndex, data: rows.map(({ id }) => id), axisTick: { show: false }, splitLine: { show: false }, axisLine: { show: false }, triggerEvent: true,
    axisLabel: own
      ? { ...style.axisLabel, show: grids[gridIndex]!.first, interval: 0, width: labels, overflow: 'truncate' as const, align: 'left' as const, margin: labels, rich, formatter: labelOf }
      : { ...style.axisLabel, interval: 0, align: 'left' as const, margin: 10, rich, formatter: (id: string) => { const row = byId.get(id)!; const words = wordsOf(row, side); return words && `${toneOf(row, side)}${words}}` } },
    ...(own ? {} : { position: 'right' as const }),
  })
  const single = sides.length === 1
  const tip = (id: string) => {
    const result = found.get(id)
    if (result) {
      const cell = result.row.cells[result.side]!
      return tooltipHtml(nameOf(result.row), [
        ['Side', sideText(comparison, result.side)],
        ['Speedup', cellWords(cell)],
        ['95 % CI', interval(cell.speedupLow, cell.speedupHigh)],
        ['Median', `${formatTime(cell.medianNs)}, baseline ${formatTime(result.row.cells[0]?.medianNs)}`],
        ['Grade', `${cell.grade ?? '–'}, baseline ${result.row.cells[0]?.grade ?? '–'}`],
      ])
    }
    const row = byId.get(id)
    if (row?.kind !== 'group') return ''
    return tooltipHtml(row.group.key, row.group.sides.flatMap((side, i) => (side?.speedup === undefined ? [] : [[single ? 'Geometric mean' : sideText(comparison, i), meanWords(side)] as const, ['95 % CI', interval(side.speedupLow, side.speedupHigh)] as const, ['Cases', String(side.cases)] as const])))
  }
  const places = new Map(rows.map((row, at) => [row.id, at]))
  const series = sides.flatMap((side, i) => {
    const axes = { xAxisIndex: i, yAxisIndex: i, dimensions: ['ratio', 'row', 'low', 'high', 'id'], encode: { x: [0, 2, 3], y: 1 }, clip: true }
    const closed = rows.flatMap((row, at) => (row.kind === 'group' && !row.open ? row.group.rows.map((one) => ({ one, at, whisker: false })) : []))
    const shown = rows.flatMap((row) => (row.kind === 'case' ? [{ one: row.row, at: places.get(row.id)!, whisker: true }] : []))
    const marks = VERDICTS.map((verdict) => {
      const data = [...closed, ...shown].flatMap(({ one, at, whisker }): Item[] => {
        const cell = one.cells[side]
        if (cell?.speedup === undefined || (cell.verdict ?? 'ambiguous') !== verdict) return []
        return [[cell.speedup, at, whisker ? (cell.speedupLow ?? NaN) : NaN, whisker ? (cell.speedupHigh ?? NaN) : NaN, cell.resultId]]
      })
      return { type: 'custom' as const, ...axes, id: `${verdict} ${side}`, name: `${VERDICT_WORDS[verdict].sign} ${VERDICT_WORDS[verdict].word}`, color: colors[verdict], itemStyle: { color: colors[verdict] }, data, z: 4, renderItem: drawMark(verdict, colors[verdict], marked, data, theme) }
    })
    const means = rows.flatMap((row, at): Item[] => {
      const mean = row.kind === 'group' ? row.group.sides[side] : undefined
      return mean?.speedup === undefined ? [] : [[mean.speedup, at, mean.speedupLow ?? NaN, mean.speedupHigh ?? NaN, row.id]]
    })
    const whole = rows.map((row, at): Item => [1, at, NaN, NaN, row.kind === 'group' ? row.id : (row.row.cells[side]?.resultId ?? row.id)])
    const band = rows.map((row, at): Item => {
      const threshold = thresholdFor(thresholds, opOf(row))
      return [1, at, 1 / (1 + threshold), 1 / Math.max(0.01, 1 - threshold), `band ${at}`]
    })
    return [
      ...marks,
      { type: 'custom' as const, ...axes, id: `mean ${side}`, name: 'Geometric mean', color: theme.text, itemStyle: { color: theme.text }, data: means, z: 5, renderItem: meanOf(theme) },
      { type: 'custom' as const, ...axes, id: `row ${side}`, name: 'Row', data: whole, z: 1, renderItem: stripeOf(rows, marked, theme), markLine: { silent: true, symbol: 'none', label: { show: false }, data: [{ xAxis: 1, lineStyle: { color: theme.muted, width: 1, type: 'solid' as const } }] } },
      { type: 'custom' as const, ...axes, id: `threshold ${side}`, name: 'Threshold', silent: true, tooltip: { show: false }, data: band, z: 0, renderItem: bandOf(theme) },
    ]
  })
  return {
    ...base,
    toolbox: { ...base.toolbox, feature: { ...base.toolbox.feature, dataZoom: { ...base.toolbox.feature.dataZoom, yAxisIndex: 'none' as const } } },
    title: [{ text: title, left: 12, top: TOP_PX - 20, padding: 0, textStyle: { fontSize: 11, fontWeight: 400 as const, color: theme.muted, width: labels - 24, overflow: 'truncate' as const } }, ...sides.map((side, i) => ({ text: single ? '' : clean(shortHardware(sideText(comparison, side))), left: grids[i]!.left, top: grids[i]!.top - TOP_PX + 8, padding: 0, textStyle: { fontSize: 12, fontWeight: 600 as const, color: theme.text, width: grids[i]!.width, overflow: 'truncate' as const } }))],
    grid: grids.map(({ left, top, width: w, height }) => ({ left, top, width: w, height })),
    legend: { show: false },
    tooltip: { ...base.tooltip, formatter: (item: { value: Item }) => tip(item.value[4]) },
    xAxis: sides.map((_, i) => ({ ...factorTicks(theme, scale), gridIndex: i, position: 'top' as const, axisLine: { ...style.axisLine, onZero: false } })),
    yAxis: [...sides.map((side, i) => category(i, side, true)), ...(single ? [category(0, sides[0]!, false)] : [])],
    series,
  }
}

/** Every speedup of the comparison, whatever is open, with the means of the operations first. */
export function forestCsv(comparison: Comparison, rows: readonly ForestRow[], nameOf: ForestContext['nameOf']): string {
  const sides = comparison.sessions.map((_, i) => i).slice(1)
  const groups = rows.flatMap((row) => (row.kind === 'group' ? [row.group] : []))
  return csvTable(
    ['operation', 'case', 'side', 'speedup', 'low', 'high', 'verdict', 'cases'],
    groups.flatMap(({ key, sides: means, rows: own }) =>
      sides.flatMap((side) => [
        [key, 'geometric mean', sideText(comparison, side), means[side]?.speedup, means[side]?.speedupLow, means[side]?.speedupHigh, undefined, means[side]?.cases],
        ...own.flatMap((row) => (row.cells[side]?.speedup === undefined ? [] : [[key, nameOf(row), sideText(comparison, side), row.cells[side].speedup, row.cells[side].speedupLow, row.cells[side].speedupHigh, row.cells[side].verdict && VERDICT_WORDS[row.cells[side].verdict].word, undefined]])),
      ]),
    ),
  )
}
