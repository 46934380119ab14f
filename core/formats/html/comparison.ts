import { answersOf, energyRangeText, energyRatioText, energyVerdictText, verdictText } from '../../compare/report/answer'
import { groupRows, hasEnergy, isInside, sideText, type Group } from '../../compare/report/summary'
import { caseText } from '../../case-words'
import type { CompareCell, Comparison } from '../../compare/types'
import { noiseFloorText } from '../../session/environment'
import { ABSENT, formatEnergy, formatInteger, formatPercent, formatRatio, formatTime } from '../../units'
import { numberCell, type Cell, type Head, type ReportTable } from '../shared/report'
import { dotSample, legendItem, seriesStyle } from './legend'
import { dotPlot } from './draw'
import { escapeHtml, pageHtml, listHtml, tableHtml } from './page'

/** Keys of colours that are easy to tell apart, one for each side after the baseline. */
const SIDE_COLOURS = ['webgpu/wgsl', 'cpu/avx512', 'cuda/kernel', 'cpu/scalar', 'cpu/avx2', 'cpu/sse2'] as const
/** Rows of the chart: the largest effects, where there are more cases; as many as a window or a printed page shows with their axis. */
const MAX_DRAWN = 20

const counted = (count: number, one: string) => `${formatInteger(count)} ${count === 1 ? one : `${one}s`}`

/** Sides after the baseline, by index. */
const sidesOf = ({ sessions }: Comparison) => sessions.map((_, i) => i).slice(1)

function byOperation(comparison: Comparison): ReportTable {
  const groups = groupRows(comparison.rows, 'op', comparison.sessions.length)
  return {
    heads: [{ title: 'operation', mono: true }, { title: 'side' }, { title: 'speedup (geometric mean)', numeric: true }, ...['cases', '▼ slower', '▲ faster', '= same', '? unclear'].map((title) => ({ title, numeric: true }))],
    rows: groups.flatMap(({ key, sides }) =>
      sides.flatMap((side, i) => {
        if (!side || side.cases === 0) return []
        const { slower, faster, same, ambiguous } = side.counts
        return [[{ text: key }, { text: sideText(comparison, i) }, numberCell(formatRatio(side.speedup), side.speedup), ...[side.cases, slower, faster, same, ambiguous].map((n) => numberCell(String(n), n))]]
      }),
    ),
  }
}

const verdictCell = ({ verdict, doubt }: CompareCell): Cell =>
  verdict === undefined ? { text: ABSENT } : { text: `${verdictText(verdict)}${doubt === undefined ? '' : ` (${doubt})`}`, ...(verdict === 'slower' ? { tone: 'bad' as const } : verdict === 'faster' ? { tone: 'good' as const } : {}) }

const energyHeads = (name: string): Head[] => [{ title: `${name}energy`, numeric: true }, { title: `${name}energy ratio`, numeric: true }, { title: '95 % CI', numeric: true }, { title: `${name}energy verdict` }]

function energyCells({ joulesPerCall, energy }: CompareCell): Cell[] {
  const width = energy?.low === undefined || energy.high === undefined ? undefined : energy.high - energy.low
  const verdict: Cell = energy?.verdict ? { text: `${energyVerdictText(energy.verdict)}${energy.doubt === undefined ? '' : ` (${energy.doubt})`}`, ...(energy.verdict === 'more' ? { tone: 'bad' } : energy.verdict === 'less' ? { tone: 'good' } : {}) } : { text: ABSENT }
  return [numberCell(formatEnergy(joulesPerCall), joulesPerCall), numberCell(energyRatioText(energy), energy?.ratio), numberCell(energyRangeText(energy), width), verdict]
}

function verdicts(comparison: Comparison): ReportTable {
  const inside = isInside(comparison)
  const energy = hasEnergy(comparison)
  const name = (side: number) => (comparison.sessions.length > 2 ? `${sideText(comparison, side)}: ` : '')
  const head = (side: number): Head[] => [{ title: `${name(side)}median`, numeric: true }, { title: `${name(side)}speedup`, numeric: true }, { title: '95 % CI', numeric: true }, { title: `${name(side)}verdict` }, { title: 'grades' }, ...(energy ? energyHeads(name(side)) : [])]
  const cells = (base: CompareCell | null | undefined, cell: CompareCell | null | undefined): Cell[] => {
    if (!cell) return head(0).map(() => ({ text: ABSENT }))
    const { medianNs, speedup, speedupLow, speedupHigh } = cell
    const width = speedupLow === undefined || speedupHigh === undefined ? undefined : speedupHigh - speedupLow
    return [numberCell(formatTime(medianNs), medianNs), numberCell(formatRatio(speedup), speedup), numberCell(width === undefined ? ABSENT : `${formatRatio(speedupLow)} to ${formatRatio(speedupHigh)}`, width), verdictCell(cell), { text: `${base?.grade ?? ABSENT} → ${cell.grade ?? ABSENT}` }, ...(energy ? energyCells(cell) : [])]
  }
  return {
    heads: [{ title: 'case', mono: true }, { title: 'baseline', numeric: true }, ...(energy ? [{ title: 'baseline energy', numeric: true }] : []), ...sidesOf(comparison).flatMap(head)],
    rows: comparison.rows.map(({ case: c, cells: [base, ...others] }) => [{ text: caseText(c, inside) }, numberCell(formatTime(base?.medianNs), base?.medianNs), ...(energy ? [numberCell(formatEnergy(base?.joulesPerCall), base?.joulesPerCall)] : []), ...others.flatMap((cell) => cells(base, cell))]),
  }
}

/** Geometric means by operation with their intervals, the fastest first: the answer as a picture. */
function meansChart(comparison: Comparison): string {
  const groups = groupRows(comparison.rows, 'op', comparison.sessions.length).filter(({ sides }) => sides.some((side) => side?.speedup !== undefined))
  const best = ({ sides }: Group) => Math.max(...sides.flatMap((side) => side?.speedup ?? []))
  const svg = dotPlot({
    title: 'Geometric mean of the speedups by operation',
    quantity: 'ratio',
    wide: true,
    rows: groups.sort((a, b) => best(b) - best(a)).map(({ key, sides }) => ({
      label: key,
      dots: sides.flatMap((side, i) => (side?.speedup === undefined ? [] : [{ label: sideText(comparison, i), color: (i - 1) % SIDE_COLOURS.length, line: i - 1, value: side.speedup, low: side.speedupLow, high: side.speedupHigh, about: counted(side.cases, 'case') }])),
    })),
  })
  return svg && `<section class="charted">${legendOf(comparison)}<figure class="one"><figcaption>Speedup over ${escapeHtml(sideText(comparison, 0))} by operation (geometric mean, 95 % CI); above 1 is faster</figcaption>${svg}</figure></section>`
}

const legendOf = (comparison: Comparison): string => `<ul class="legend">${sidesOf(comparison).map((side) => legendItem(side - 1, (side - 1) % SIDE_COLOURS.length, dotSample(side - 1), sideText(comparison, side))).join('')}</ul>`

/** Speedups with their intervals, the largest effects first. */
function casesChart(comparison: Comparison): string {
  const inside = isInside(comparison)
  const effect = (row: Comparison['rows'][number]) => Math.max(...row.cells.slice(1).map((cell) => Math.abs(Math.log(cell?.speedup ?? 1))))
  const rows = [...comparison.rows].sort((a, b) => effect(b) - effect(a)).slice(0, MAX_DRAWN)
  const svg = dotPlot({
    title: 'Speedup over the baseline',
    quantity: 'ratio',
    wide: true,
    rows: rows.map((row) => ({
      label: caseText(row.case, inside),
      dots: row.cells.flatMap((cell, side) => (side > 0 && cell?.speedup !== undefined ? [{ label: sideText(comparison, side), color: (side - 1) % SIDE_COLOURS.length, line: side - 1, value: cell.speedup, low: cell.speedupLow, high: cell.speedupHigh, about: cell.verdict === 'ambiguous' ? 'unclear' : cell.verdict }] : [])),
    })),
  })
  if (!svg) return ''
  const more = comparison.rows.length > rows.length ? `, the ${MAX_DRAWN} largest of ${counted(comparison.rows.length, 'case')}` : ''
  return `<section class="charted">${legendOf(comparison)}<figure class="one"><figcaption>Speedup over ${escapeHtml(sideText(comparison, 0))} by case${more}; above 1 is faster</figcaption>${svg}</figure></section>`
}

function notCompared({ unmatched }: Comparison): string[] {
  const reasons = new Map<string, number>()
  for (const { reason } of unmatched) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [...reasons].map(([reason, count]) => `${counted(count, 'case')}: ${reason}`)
}

/** A comparison as a report in one file: a line per side, a chart of speedups, means per operation, every verdict, noise floors. */
export function comparisonHtml(comparison: Comparison): string {
  const title = comparison.sessions.map((_, side) => sideText(comparison, side)).join(' vs ')
  const own = Object.entries(comparison.opThresholds).map(([op, value]) => `${formatPercent(value)} for ${op}`)
  const list = (heading: string, items: readonly string[]) => (items.length ? `<h2>${heading}</h2>\n${listHtml(items)}` : '')
  const body = `<h1>${escapeHtml(title)}</h1>
${answersOf(comparison).flatMap(({ sentence, energySentence }) => [sentence, ...(energySentence === undefined ? [] : [energySentence])]).map((sentence) => `<p class="answer">${escapeHtml(sentence)}</p>`).join('\n')}
<p class="muted">${escapeHtml(`Differences below ${[formatPercent(comparison.threshold), ...own].join(', ')} count as none. Verdicts hold over all cases together (Benjamini-Hochberg); unclear ones need more samples.`)}</p>
${meansChart(comparison) || '<p class="muted">No speedup to draw.</p>'}
${list('Environment differences', comparison.environmentDifferences)}
<h2>By operation</h2>
${tableHtml('By operation', byOperation(comparison))}
<h2>Verdicts</h2>
${casesChart(comparison)}
${tableHtml('Verdicts', verdicts(comparison))}
${list('Noise floors', comparison.noiseFloors.map((floor) => `${floor.deviceName}: ${noiseFloorText(floor)}`))}
${list('Not compared', notCompared(comparison))}`
  return pageHtml(title, body, seriesStyle(SIDE_COLOURS))
}
