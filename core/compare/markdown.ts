import { formatPercent, formatTime } from '../units'
import { isInside, rowText, sideText } from './case-text'
import { findingsOf, wrongCases } from './findings'
import { groupRows, summarizeSide, type VerdictCounts } from './groups'
import type { CompareCell, Comparison } from './types'

type Row = Comparison['rows'][number]

/** Longest lists in a comment that people read; what is more is counted. */
const MOST = 50
const SIGNS = { faster: '▲', slower: '▼', same: '=', ambiguous: '?' } as const

/**
 * Text as GitHub shows it literally, on one line: no markup, no HTML, no cell borders, no mention of a user and no link to
 * an issue, whoever named a session.
 */
export const markdownText = (text: string): string =>
  text
    .replace(/[\r\n\t]+/g, ' ')
    .replace(/[\\`*_{}[\]()<>#+!|~$&]/g, (sign) => (sign === '<' ? '&lt;' : sign === '>' ? '&gt;' : sign === '&' ? '&amp;' : sign === '(' || sign === ')' ? sign : `\\${sign}`))
    .replace(/@/g, '@\u200b')
    .replace(/:\/\//g, ':\u200b//')
    .replace(/\bwww\./gi, (found) => `${found.slice(0, 3)}\u200b.`)

const table = (head: readonly string[], align: readonly ('l' | 'r')[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(' | ')} |`,
  `| ${align.map((side) => (side === 'r' ? '---:' : '---')).join(' | ')} |`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
]
const counted = (count: number, word: string) => `${count.toLocaleString('en-US')} ${count === 1 ? word : `${word}s`}`
const ratio = (value: number | undefined) => (value === undefined ? '–' : `${value.toFixed(3)}x`)
const range = ({ ratioLow, ratioHigh }: CompareCell) => (ratioLow === undefined || ratioHigh === undefined ? '–' : `${ratioLow.toFixed(3)} to ${ratioHigh.toFixed(3)}`)
const verdictText = (cell: CompareCell) => (cell.verdict ? `${SIGNS[cell.verdict]} ${cell.verdict}` : '–')
const grades = (base: CompareCell | null | undefined, cell: CompareCell) => `${base?.grade ?? '–'} → ${cell.grade ?? '–'}`
const countsText = (counts: VerdictCounts) => `▼ ${counts.slower} slower, ▲ ${counts.faster} faster, = ${counts.same} same, ? ${counts.ambiguous} ambiguous`

/** One line per side: how it compares as a whole. */
function summary(comparison: Comparison): string[] {
  return comparison.sessions.slice(1).map((_, i) => {
    const { ratio: mean, cases, counts } = summarizeSide(comparison.rows, i + 1)
    const who = `**${markdownText(sideText(comparison, i + 1))}** against **${markdownText(sideText(comparison, 0))}**`
    return mean === undefined ? `${who}: no case in common.` : `${who}: takes **${ratio(mean)}** the time over ${counted(cases, 'case')} (geometric mean; below 1 is faster). ${countsText(counts)}.`
  })
}

const several = ({ sessions }: Comparison) => sessions.length > 2

function byOperation(comparison: Comparison): string[] {
  const rows = groupRows(comparison.rows, 'op', comparison.sessions.length).flatMap(({ key, sides }) =>
    sides.flatMap((side, i) => (side && side.cases > 0 ? [[markdownText(key), ...(several(comparison) ? [markdownText(sideText(comparison, i))] : []), ratio(side.ratio), String(side.cases), String(side.counts.slower), String(side.counts.faster), String(side.counts.same), String(side.counts.ambiguous)]] : [])),
  )
  if (rows.length === 0) return []
  const extra = several(comparison)
  return ['', '#### By operation', '', ...table(['Operation', ...(extra ? ['Side'] : []), 'Geometric mean', 'Cases', '▼ slower', '▲ faster', '= same', '? ambiguous'], ['l', ...(extra ? (['l'] as const) : []), 'r', 'r', 'r', 'r', 'r', 'r'], rows)]
}

function regressions(comparison: Comparison): string[] {
  const found = findingsOf(comparison, 'slower')
  if (found.length === 0) return ['', '#### Regressions', '', 'None.']
  const extra = several(comparison)
  const rows = found.slice(0, MOST).map(({ row, side, cell, threshold }) => [
    markdownText(rowText(row.case, isInside(comparison))), ...(extra ? [markdownText(sideText(comparison, side))] : []),
    formatTime(row.cells[0]?.medianNs), formatTime(cell.medianNs), ratio(cell.ratio), range(cell), formatPercent(threshold), grades(row.cells[0], cell),
  ])
  return [
    '', `#### Regressions (${found.length.toLocaleString('en-US')})`, '',
    ...table(['Case', ...(extra ? ['Side'] : []), 'Baseline', 'Now', 'Ratio', '95 % interval', 'Threshold', 'Grades'], ['l', ...(extra ? (['l'] as const) : []), 'r', 'r', 'r', 'r', 'r', 'l'], rows),
    ...(found.length > MOST ? ['', `and ${(found.length - MOST).toLocaleString('en-US')} more.`] : []),
  ]
}

function wrong(comparison: Comparison): string[] {
  const found = wrongCases(comparison)
  if (found.length === 0) return []
  return ['', `#### Wrong results (${found.length.toLocaleString('en-US')})`, '', ...found.slice(0, MOST).map((entry) => `- ${markdownText(rowText(entry.case, false))}: ${markdownText(entry.reason)}`), ...(found.length > MOST ? [`- and ${(found.length - MOST).toLocaleString('en-US')} more`] : [])]
}

const details = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['', '<details>', `<summary>${title}</summary>`, '', ...lines, '', '</details>'])
const list = (lines: readonly string[]) => [...lines.slice(0, MOST).map((line) => `- ${markdownText(line)}`), ...(lines.length > MOST ? [`- and ${(lines.length - MOST).toLocaleString('en-US')} more`] : [])]

function leftOut({ unmatched }: Comparison): string[] {
  const reasons = new Map<string, number>()
  for (const { reason } of unmatched) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [...reasons].map(([reason, count]) => `${counted(count, 'case')}: ${reason}`)
}

/**
 * A comparison as the text of a pull request: a line per side, means per operation, regressions, what was computed wrong;
 * the differences of the machines, cases left out and noise floors folded in.
 */
export function comparisonMarkdown(comparison: Comparison): string {
  const own = Object.entries(comparison.opThresholds).map(([op, value]) => `${formatPercent(value)} for ${op}`)
  const environment = comparison.environmentDifferences
  const floors = comparison.noiseFloors.map((floor) => `Equal cases on ${floor.deviceName} differ by less than ${formatPercent(floor.ratioP95)} in 95 % of ${counted(floor.pairs, 'pair')} (${floor.measuredAt.slice(0, 10)}).`)
  return `${[
    '### Benchmark comparison',
    '',
    ...summary(comparison).flatMap((line, i) => (i > 0 ? ['', line] : [line])),
    ...byOperation(comparison),
    ...regressions(comparison),
    ...wrong(comparison),
    '',
    `Differences below ${markdownText([formatPercent(comparison.threshold), ...own].join(', '))} count as none. Verdicts hold over all ${counted(comparison.rows.length, 'case')} together (Benjamini-Hochberg); ambiguous ones need more samples.`,
    ...details(`Environment differences (${environment.length})`, list(environment)),
    ...details(`Noise floors (${floors.length})`, list(floors)),
    ...details(`Not compared (${comparison.unmatched.length})`, list(leftOut(comparison))),
  ].join('\n')}\n`
}

/** Rows as a Markdown table, as they are read. */
export function rowsMarkdown(comparison: Comparison, rows: readonly Row[] = comparison.rows): string {
  const inside = isInside(comparison)
  const names = comparison.sessions.map((_, i) => markdownText(sideText(comparison, i)))
  const head = ['Case', names[0] ?? '', ...names.slice(1).flatMap((name) => [name, 'Ratio', '95 % interval', 'Verdict'])]
  return `${table(head, head.map((_, i) => (i === 0 || (i > 1 && (i - 2) % 4 === 3) ? 'l' : 'r')), rows.map(({ case: c, cells }) => [
    markdownText(rowText(c, inside)), formatTime(cells[0]?.medianNs),
    ...cells.slice(1).flatMap((cell) => (cell ? [formatTime(cell.medianNs), ratio(cell.ratio), range(cell), verdictText(cell)] : ['–', '–', '–', '–'])),
  ])).join('\n')}\n`
}
