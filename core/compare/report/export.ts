import { csvText, type Cell } from '../../csv'
import { formatEnergy, formatInteger, formatPercent, formatRatio, formatRatioRange, formatTime } from '../../units'
import { caseText, shapeText } from '../../case-words'
import { answerOf, energyRangeText, energyRatioText, energyVerdictText, slowerTitle, verdictText } from './answer'
import { isInside, sideText, groupRows, findingsOf, hasEnergy, wrongCases } from './summary'
import { familyOf, type CompareCell, type Comparison } from '../types'

type Row = Comparison['rows'][number]

/** Longest list in a comment; further entries are counted. */
const MAX_LISTED = 50
/** Order of the columns that count verdicts. */
const SHOWN = ['slower', 'faster', 'same', 'ambiguous'] as const

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
const counted = (count: number, word: string) => `${formatInteger(count)} ${count === 1 ? word : `${word}s`}`
const range = ({ speedupLow, speedupHigh }: CompareCell) => formatRatioRange(speedupLow, speedupHigh)
const grades = (base: CompareCell | null | undefined, cell: CompareCell) => `${base?.grade ?? '–'} → ${cell.grade ?? '–'}`

/** One line per side: how it compares as a whole. */
function summary(comparison: Comparison): string[] {
  return comparison.sessions.slice(1).flatMap((_, i) => {
    const { name, base, relation, basis, counted: verdicts, sentence, energySentence } = answerOf(comparison, i + 1)
    if (relation === undefined) return [markdownText(sentence)]
    const [words, than] = [relation.slice(0, relation.lastIndexOf(' ')), relation.slice(relation.lastIndexOf(' ') + 1)]
    return [`**${markdownText(name)}** is **${words}** ${than} **${markdownText(base)}** (${basis}): ${verdicts}.`, ...(energySentence === undefined ? [] : [markdownText(energySentence)])]
  })
}

const several = ({ sessions }: Comparison) => sessions.length > 2

function byOperation(comparison: Comparison): string[] {
  const rows = groupRows(comparison.rows, 'op', comparison.sessions.length).flatMap(({ key, sides }) =>
    sides.flatMap((side, i) => (side && side.cases > 0 ? [[markdownText(key), ...(several(comparison) ? [markdownText(sideText(comparison, i))] : []), formatRatio(side.speedup), String(side.cases), ...SHOWN.map((verdict) => String(side.counts[verdict]))]] : [])),
  )
  if (rows.length === 0) return []
  const extra = several(comparison)
  return ['', '#### By operation', '', ...table(['Operation', ...(extra ? ['Side'] : []), 'Speedup (geometric mean)', 'Cases', ...SHOWN.map(verdictText)], ['l', ...(extra ? (['l'] as const) : []), 'r', 'r', 'r', 'r', 'r', 'r'], rows)]
}

function slowerCases(comparison: Comparison): string[] {
  const found = findingsOf(comparison, 'slower')
  const title = slowerTitle(comparison)
  if (found.length === 0) return ['', `#### ${title}`, '', 'None.']
  const extra = several(comparison)
  const rows = found.slice(0, MAX_LISTED).map(({ row, side, cell, threshold }) => [
    markdownText(caseText(row.case, isInside(comparison))), ...(extra ? [markdownText(sideText(comparison, side))] : []),
    formatTime(row.cells[0]?.medianNs), formatTime(cell.medianNs), formatRatio(cell.speedup), range(cell), formatPercent(threshold), grades(row.cells[0], cell),
  ])
  return [
    '', `#### ${title} (${formatInteger(found.length)})`, '',
    ...table(['Case', ...(extra ? ['Side'] : []), 'Baseline', 'Now', 'Speedup', '95 % CI', 'Threshold', 'Grades'], ['l', ...(extra ? (['l'] as const) : []), 'r', 'r', 'r', 'r', 'r', 'l'], rows),
    ...(found.length > MAX_LISTED ? ['', `and ${formatInteger(found.length - MAX_LISTED)} more.`] : []),
  ]
}

/** Energy of a call, of the cases that have it on both sides. */
function energies(comparison: Comparison): string[] {
  const extra = several(comparison)
  const rows = comparison.rows.flatMap(({ case: c, cells }) => cells.flatMap((cell, side) => (cell?.energy ? [[
    markdownText(caseText(c, isInside(comparison))), ...(extra ? [markdownText(sideText(comparison, side))] : []),
    formatEnergy(cells[0]?.joulesPerCall), formatEnergy(cell.joulesPerCall), energyRatioText(cell.energy), energyRangeText(cell.energy), cell.energy.verdict ? energyVerdictText(cell.energy.verdict) : '–',
  ]] : [])))
  if (rows.length === 0) return []
  return [
    '', `#### Energy per call (${counted(rows.length, 'case')})`, '',
    ...table(['Case', ...(extra ? ['Side'] : []), 'Baseline', 'Now', 'Ratio', '95 % CI', 'Verdict'], ['l', ...(extra ? (['l'] as const) : []), 'r', 'r', 'r', 'r', 'l'], rows.slice(0, MAX_LISTED)),
    ...(rows.length > MAX_LISTED ? ['', `and ${formatInteger(rows.length - MAX_LISTED)} more.`] : []),
  ]
}

function wrong(comparison: Comparison): string[] {
  const found = wrongCases(comparison)
  if (found.length === 0) return []
  return ['', `#### Failed verification (${formatInteger(found.length)})`, '', ...found.slice(0, MAX_LISTED).map((entry) => `- ${markdownText(caseText(entry.case, false))}: ${markdownText(entry.reason)}`), ...(found.length > MAX_LISTED ? [`- and ${formatInteger(found.length - MAX_LISTED)} more`] : [])]
}

const details = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['', '<details>', `<summary>${title}</summary>`, '', ...lines, '', '</details>'])
const list = (lines: readonly string[]) => [...lines.slice(0, MAX_LISTED).map((line) => `- ${markdownText(line)}`), ...(lines.length > MAX_LISTED ? [`- and ${formatInteger(lines.length - MAX_LISTED)} more`] : [])]

function leftOut({ unmatched }: Comparison): string[] {
  const reasons = new Map<string, number>()
  for (const { reason } of unmatched) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [...reasons].map(([reason, count]) => `${counted(count, 'case')}: ${reason}`)
}

/**
 * A comparison as the text of a pull request: a line per side, means per operation, slower cases, failed verifications;
 * environment differences, cases left out and noise floors are folded in.
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
    ...slowerCases(comparison),
    ...energies(comparison),
    ...wrong(comparison),
    '',
    `Differences below ${markdownText([formatPercent(comparison.threshold), ...own].join(', '))} count as none. Verdicts hold over all ${counted(comparison.rows.length, 'case')} together (Benjamini-Hochberg); unclear ones need more samples. A speedup above 1 is faster than the baseline.`,
    ...details(`Environment differences (${environment.length})`, list(environment)),
    ...details(`Noise floors (${floors.length})`, list(floors)),
    ...details(`Not compared (${comparison.unmatched.length})`, list(leftOut(comparison))),
  ].join('\n')}\n`
}

/** Rows as a Markdown table, as they are read. */
export function rowsMarkdown(comparison: Comparison, rows: readonly Row[] = comparison.rows): string {
  const inside = isInside(comparison)
  const names = comparison.sessions.map((_, i) => markdownText(sideText(comparison, i)))
  const energy = hasEnergy(comparison)
  const head = ['Case', names[0] ?? '', ...names.slice(1).flatMap((name) => [name, 'Speedup', '95 % CI', 'Verdict', ...(energy ? ['Energy ratio', '95 % CI', 'Verdict'] : [])])]
  return `${table(head, head.map((title) => (title === 'Case' || title === 'Verdict' ? 'l' : 'r')), rows.map(({ case: c, cells }) => [
    markdownText(caseText(c, inside)), formatTime(cells[0]?.medianNs),
    ...cells.slice(1).flatMap((cell) => [
      ...(cell ? [formatTime(cell.medianNs), formatRatio(cell.speedup), range(cell), cell.verdict ? verdictText(cell.verdict) : '–'] : ['–', '–', '–', '–']),
      ...(energy ? [energyRatioText(cell?.energy), energyRangeText(cell?.energy), cell?.energy?.verdict ? energyVerdictText(cell.energy.verdict) : '–'] : []),
    ]),
  ])).join('\n')}\n`
}

const CASE_COLUMNS = ['family', 'operation', 'shape', 'parameters', 'dtype', 'backend', 'implementation', 'device', 'mode', 'threads'] as const
const SIDE_COLUMNS = ['side', 'baseline', 'baseline_median_ns', 'baseline_grade', 'median_ns', 'grade', 'speedup', 'speedup_low', 'speedup_high', 'verdict', 'p', 'adjusted_p', 'cycles_speedup', 'runs', 'quads', 'doubt', 'speedup_grade', 'baseline_energy_j', 'energy_j', 'energy_ratio', 'energy_low', 'energy_high', 'energy_verdict', 'energy_p', 'energy_adjusted_p', 'energy_doubt'] as const

const parameters = (params: Row['case']['params']) => Object.entries(params).map(([name, value]) => `${name}=${String(value)}`).join(' ')

function* records(comparison: Comparison, rows: readonly Row[]): Generator<Cell[]> {
  for (const { case: c, cells } of rows) {
    const base = cells[0]
    for (let side = 1; side < cells.length; side++) {
      const cell = cells[side]
      if (!cell) continue
      const { energy } = cell
      yield [
        familyOf(c.op), c.op, shapeText(c), parameters(c.params), c.dtype, c.backend, c.impl, c.device, c.mode, c.threads,
        sideText(comparison, side), sideText(comparison, 0), base?.medianNs, base?.grade, cell.medianNs, cell.grade, cell.speedup, cell.speedupLow, cell.speedupHigh, cell.verdict, cell.p, cell.adjustedP, cell.cyclesSpeedup, cell.runs, cell.quads, cell.doubt, cell.speedupGrade,
        base?.joulesPerCall, cell.joulesPerCall, energy?.ratio, energy?.low, energy?.high, energy?.verdict, energy?.p, energy?.adjustedP, energy?.doubt,
      ]
    }
  }
}

/** A comparison as CSV (RFC 4180): one record per compared cell, numbers in full, speedups over the baseline (above 1 is faster), energy ratios to it (below 1 is less). */
export const comparisonCsv = (comparison: Comparison, rows: readonly Row[] = comparison.rows): string =>
  csvText([[...CASE_COLUMNS, ...SIDE_COLUMNS], ...records(comparison, rows)])

/** Rows as they are read, for a spreadsheet: a line per case, a few columns per side, separated by tabs. */
export function comparisonTsv(comparison: Comparison, rows: readonly Row[] = comparison.rows): string {
  const inside = isInside(comparison)
  const clean = (value: string) => value.replace(/[\t\r\n]+/g, ' ')
  const number = (value: number | undefined, digits: number) => (value === undefined ? '' : String(Number(value.toPrecision(digits))))
  const energy = hasEnergy(comparison)
  const titles = ['median ns', 'speedup', 'low', 'high', 'verdict', 'grade', ...(energy ? ['energy J', 'energy ratio', 'energy low', 'energy high', 'energy verdict'] : [])]
  const head = ['case', `${sideText(comparison, 0)} median ns`, ...comparison.sessions.slice(1).flatMap((_, i) => titles.map((title) => `${sideText(comparison, i + 1)} ${title}`))]
  const lines = rows.map(({ case: c, cells }) => [
    caseText(c, inside), number(cells[0]?.medianNs, 6),
    ...cells.slice(1).flatMap((cell) => [number(cell?.medianNs, 6), number(cell?.speedup, 5), number(cell?.speedupLow, 5), number(cell?.speedupHigh, 5), cell?.verdict ?? '', cell?.grade ?? '', ...(energy ? [number(cell?.joulesPerCall, 6), number(cell?.energy?.ratio, 5), number(cell?.energy?.low, 5), number(cell?.energy?.high, 5), cell?.energy?.verdict ?? ''] : [])]),
  ])
  return [head, ...lines].map((cells) => `${cells.map(clean).join('\t')}\n`).join('')
}
