import { answersOf, energyVerdictText, type failuresOf, findingsOf, pText, VERDICT_WORDS, verdictText, wrongCases, type CompareCell, type Comparison } from '@core/compare'
import { caseText } from '@core/case-words'
import { formatEnergy, formatHalfWidth, formatPercent, formatRatio, formatRatioRange, formatTime } from '@core/units'
import { oneLine } from '../../printable'
import { caseWords } from '../../runner/words'
import { table, type Column } from './tables'

type Row = Comparison['rows'][number]

/** `A` for the baseline, `B` for the next, `27` where letters end. */
const letter = (i: number) => (i < 26 ? String.fromCharCode(65 + i) : String(i + 1))

/** `1.234x ±0.5 % ▲ faster`: the speedup over the baseline, above 1 is faster. */
function cellText(cell: CompareCell | null): string {
  if (!cell) return ''
  if (cell.speedup === undefined) return formatTime(cell.medianNs)
  const { speedup, speedupLow, speedupHigh, verdict } = cell
  const interval = speedupLow === undefined || speedupHigh === undefined ? '' : ` ${formatHalfWidth((speedupHigh - speedupLow) / 2 / speedup)}`
  return `${formatRatio(speedup)}${interval}${verdict ? ` ${verdictText(verdict)}` : ''}`
}

/** `0.909x ±0.2 % ▼ less`: the energy of a call over the baseline's, below 1 is less. */
function energyText(cell: CompareCell | null | undefined): string {
  if (!cell?.energy) return ''
  const { ratio, low, high, verdict } = cell.energy
  return `${formatRatio(ratio)}${low === undefined || high === undefined ? '' : ` ${formatHalfWidth((high - low) / 2 / ratio)}`}${verdict ? ` ${energyVerdictText(verdict)}` : ''}`
}

/** What the speedup is computed from, where that is more than one result on either side. */
function basis({ quads, runs, baselineRuns }: CompareCell): string {
  if (quads !== undefined) return `${quads} ABBA quads`
  return runs === undefined ? '' : `${runs} and ${baselineRuns ?? 1} runs`
}

/** Columns of one side; those that would be empty in every row are left out. */
function sideColumns(rows: Comparison['rows'], i: number): Column<Row>[] {
  const median: Column<Row> = { title: `${letter(i)} median`, align: 'right', cell: (row) => (row.cells[i] ? formatTime(row.cells[i].medianNs) : '') }
  const energy: Column<Row> = { title: `${letter(i)} energy`, align: 'right', cell: (row) => (row.cells[i]?.joulesPerCall === undefined ? '' : formatEnergy(row.cells[i].joulesPerCall)) }
  const shown = (columns: readonly Column<Row>[]) => columns.filter(({ cell }) => rows.some((row) => cell(row) !== ''))
  if (i === 0) return [median, ...shown([energy])]
  const extra: Column<Row>[] = [
    { title: 'p', align: 'right', cell: (row) => (row.cells[i]?.p === undefined ? '' : pText(row.cells[i].p)) },
    { title: 'corrected p', align: 'right', cell: (row) => (row.cells[i]?.adjustedP === undefined ? '' : pText(row.cells[i].adjustedP)) },
    { title: 'in cycles', align: 'right', cell: (row) => row.cells[i]?.cyclesSpeedup === undefined ? '' : formatRatio(row.cells[i].cyclesSpeedup) },
    { title: 'from', cell: (row) => (row.cells[i] ? basis(row.cells[i]) : '') },
    energy,
    { title: `${letter(i)} energy over A`, cell: (row) => energyText(row.cells[i]) },
  ]
  return [median, { title: `${letter(i)} speedup over A`, cell: (row) => cellText(row.cells[i] ?? null) }, ...shown(extra)]
}

const counted = (count: number, word: string) => `${count} ${count === 1 ? word : `${word}s`}`

/** The comparison as text: sides, environment differences, a line per case, overall speedups, reasons for unclear verdicts, noise floors. */
export function comparisonText(comparison: Comparison): string {
  const { sessions, rows, unmatched, environmentDifferences, threshold, opThresholds, noiseFloors } = comparison
  const within = sessions.every(({ value }) => value !== undefined)
  const words = (row: Row) => caseText(row.case, within)
  const columns: Column<Row>[] = [{ title: 'case', cell: words }, ...sessions.flatMap((_, i) => sideColumns(rows, i))]
  const answers = rows.length > 0 ? answersOf(comparison, letter).flatMap(({ sentence, energySentence }) => [sentence, ...(energySentence === undefined ? [] : [energySentence])]) : []
  const doubts = rows.flatMap((row) => row.cells.flatMap((cell, i) => [cell?.doubt, cell?.energy?.doubt].flatMap((doubt, energy) => (doubt === undefined ? [] : [`unclear${energy ? ' energy' : ''}: ${letter(i)}, ${words(row)}: ${doubt}`]))))
  const reasons = new Map<string, number>()
  for (const { reason } of unmatched) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [
    ...sessions.map((session, i) => (session.value === undefined ? `${letter(i)}: ${oneLine(session.name)} (${session.fileName === undefined ? session.id : `file ${oneLine(session.fileName)}`}, ${session.createdAt})` : `${letter(i)}: ${session.value}${i === 0 ? ` in ${oneLine(session.name)} (${session.fileName === undefined ? session.id : `file ${oneLine(session.fileName)}`})` : ''}`)),
    ...environmentDifferences.map((difference) => `note: ${oneLine(difference)}`),
    '',
    rows.length > 0 ? table(rows, columns) : within ? 'No two cases of this session differ in that alone.' : 'These sessions have no case in common.',
    '',
    ...answers,
    `threshold: differences below ${formatPercent(threshold)} count as none${Object.entries(opThresholds).map(([op, value]) => `, ${formatPercent(value)} for ${op}`).join('')}; verdicts use p corrected for the number of cases (Benjamini-Hochberg); a speedup above 1 is faster`,
    ...noiseFloors.map((floor) => `noise floor of ${oneLine(floor.deviceName)}: ${formatPercent(floor.ratioP50)} typical, ${formatPercent(floor.ratioP95)} in 95 % of ${counted(floor.pairs, 'pair')} of equal cases (${floor.measuredAt.slice(0, 10)})`),
    ...doubts,
    ...[...reasons].map(([reason, count]) => `left out: ${counted(count, 'case')}: ${oneLine(reason)}`),
  ].join('\n').trimEnd()
}

/** What made a comparison fail: a line that counts, then a line per case, the largest effect first. */
export function failureLines(comparison: Comparison, failures: ReturnType<typeof failuresOf>): string[] {
  return failures.flatMap(({ what, cases }) => {
    const head = `opscope: ${counted(cases, 'case')} ${what === 'wrong' ? 'failed verification' : `${cases === 1 ? 'is' : 'are'} ${VERDICT_WORDS[what].word}`}`
    if (what === 'wrong') return [`${head}:`, ...wrongCases(comparison).map((entry) => `  ${oneLine(`${caseWords(entry.case)}: ${entry.reason}`)}`)]
    const lines = findingsOf(comparison, what).map(({ row, side, cell, threshold }) => {
      const interval = cell.speedupLow === undefined || cell.speedupHigh === undefined ? '' : ` (95 % CI ${formatRatioRange(cell.speedupLow, cell.speedupHigh)})`
      return `  ${VERDICT_WORDS[what].sign} ${comparison.sessions.length > 2 ? `${letter(side)}, ` : ''}${oneLine(caseWords(row.case))}: speedup ${formatRatio(cell.speedup)}${interval}, threshold ${formatPercent(threshold)}`
    })
    return [`${head}:`, ...lines]
  })
}
