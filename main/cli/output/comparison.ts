import { type failuresOf, findingsOf, wrongCases, type CompareCell, type Comparison } from '@core/compare'
import { rowText } from '@core/compare/case-text'
import { formatPercent, formatTime } from '@core/units'
import { oneLine } from '../../printable'
import { caseWords } from '../../runner/words'
import { table, type Column } from './table'

type Row = Comparison['rows'][number]

/** A sign beside each word, as in the app. */
const SIGNS = { faster: '▲', slower: '▼', same: '=', ambiguous: '?' } as const

/** `A` for the baseline, `B` for the next, `27` where letters end. */
const letter = (i: number) => (i < 26 ? String.fromCharCode(65 + i) : String(i + 1))

/** `1.234 ±0.5 % ▼ slower`; ratios below 1 are faster than the baseline. */
function verdictText(cell: CompareCell | null): string {
  if (!cell) return ''
  if (cell.ratio === undefined) return formatTime(cell.medianNs)
  const { ratio, ratioLow, ratioHigh, verdict } = cell
  const interval = ratioLow === undefined || ratioHigh === undefined ? '' : ` ±${formatPercent((ratioHigh - ratioLow) / 2 / ratio)}`
  return `${ratio.toFixed(3)}${interval}${verdict ? ` ${SIGNS[verdict]} ${verdict}` : ''}`
}

const pText = (p: number) => (p < 0.001 ? '<0.001' : p.toFixed(3))

/** What the ratio rests on where it is more than one result on either side. */
function basis({ quads, runs, baselineRuns }: CompareCell): string {
  if (quads !== undefined) return `${quads} ABBA quads`
  return runs === undefined ? '' : `${runs} and ${baselineRuns ?? 1} runs`
}

/** Columns of one side; those that would be empty in every row are left out. */
function sideColumns(rows: Comparison['rows'], i: number): Column<Row>[] {
  const median: Column<Row> = { title: `${letter(i)} median`, align: 'right', cell: (row) => (row.cells[i] ? formatTime(row.cells[i].medianNs) : '') }
  if (i === 0) return [median]
  const extra: Column<Row>[] = [
    { title: 'p', align: 'right', cell: (row) => (row.cells[i]?.adjustedP === undefined ? '' : pText(row.cells[i].adjustedP)) },
    { title: 'in cycles', align: 'right', cell: (row) => row.cells[i]?.cyclesRatio?.toFixed(3) ?? '' },
    { title: 'from', cell: (row) => (row.cells[i] ? basis(row.cells[i]) : '') },
  ]
  return [median, { title: `${letter(i)}/A`, cell: (row) => verdictText(row.cells[i] ?? null) }, ...extra.filter(({ cell }) => rows.some((row) => cell(row) !== ''))]
}

const counted = (count: number, word: string) => `${count} ${count === 1 ? word : `${word}s`}`

/** The comparison as text: sides, differences of the machines, a line per case, overall ratios, doubts and noise floors. */
export function comparisonText({ sessions, rows, unmatched, overall, environmentDifferences, threshold, opThresholds, noiseFloors }: Comparison): string {
  const within = sessions.every(({ value }) => value !== undefined)
  const words = (row: Row) => rowText(row.case, within)
  const columns: Column<Row>[] = [{ title: 'case', cell: words }, ...sessions.flatMap((_, i) => sideColumns(rows, i))]
  const means = overall.flatMap((mean, i) => (mean ? [`${letter(i)}/A over ${counted(mean.cases, 'case')}: ${mean.ratio.toFixed(3)} (geometric mean of the ratios of medians; below 1 is faster)`] : []))
  const doubts = rows.flatMap((row) => row.cells.flatMap((cell, i) => (cell?.doubt === undefined ? [] : [`doubt: ${letter(i)}, ${words(row)}: ${cell.doubt}`])))
  const reasons = new Map<string, number>()
  for (const { reason } of unmatched) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [
    ...sessions.map((session, i) => (session.value === undefined ? `${letter(i)}: ${oneLine(session.name)} (${session.fileName === undefined ? session.id : `file ${oneLine(session.fileName)}`}, ${session.createdAt})` : `${letter(i)}: ${session.value}${i === 0 ? ` in ${oneLine(session.name)} (${session.fileName === undefined ? session.id : `file ${oneLine(session.fileName)}`})` : ''}`)),
    ...environmentDifferences.map((difference) => `note: ${oneLine(difference)}`),
    '',
    rows.length > 0 ? table(rows, columns) : within ? 'No two cases of this session differ in that alone.' : 'These sessions have no case in common.',
    '',
    ...means,
    `threshold: differences below ${formatPercent(threshold)} count as none${Object.entries(opThresholds).map(([op, value]) => `, ${formatPercent(value)} for ${op}`).join('')}; p is adjusted for the number of comparisons (Benjamini-Hochberg)`,
    ...noiseFloors.map((floor) => `noise floor of ${oneLine(floor.deviceName)}: ${formatPercent(floor.ratioP50)} typical, ${formatPercent(floor.ratioP95)} in 95 % of ${counted(floor.pairs, 'pair')} of equal cases (${floor.measuredAt.slice(0, 10)})`),
    ...doubts,
    ...[...reasons].map(([reason, count]) => `left out: ${counted(count, 'case')}: ${oneLine(reason)}`),
  ].join('\n').trimEnd()
}

/** What made a comparison fail: a line that counts, then a line per case, the largest effect first. */
export function failureLines(comparison: Comparison, failures: ReturnType<typeof failuresOf>): string[] {
  return failures.flatMap(({ what, cases }) => {
    const head = `opscope: ${counted(cases, 'case')} ${cases === 1 ? 'is' : 'are'} ${what}`
    if (what === 'wrong') return [`${head}:`, ...wrongCases(comparison).map((entry) => `  ${oneLine(`${caseWords(entry.case)}: ${entry.reason}`)}`)]
    const lines = findingsOf(comparison, what).map(({ row, side, cell, threshold }) => {
      const interval = cell.ratioLow === undefined || cell.ratioHigh === undefined ? '' : ` (${cell.ratioLow.toFixed(3)} to ${cell.ratioHigh.toFixed(3)})`
      return `  ${SIGNS[what]} ${comparison.sessions.length > 2 ? `${letter(side)}, ` : ''}${oneLine(caseWords(row.case))}: ${cell.ratio.toFixed(3)}x${interval}, threshold ${formatPercent(threshold)}`
    })
    return [`${head}:`, ...lines]
  })
}
