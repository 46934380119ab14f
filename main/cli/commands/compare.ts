import type { CompareCell, Comparison } from '@core/compare'
import { formatPercent, formatTime } from '@core/units'
import { compareStored } from '../../history/compare'
import { caseWords } from '../../runner/words'
import type { Context } from '../context'
import { findSession } from '../find-session'
import { oneLine, table, type Column } from '../output/table'
import { UsageError } from '../usage-error'

/** A sign beside each word, as in the app. */
const SIGNS = { faster: '▲', slower: '▼', same: '=', ambiguous: '?' } as const

/** `1.234 ±0.5 % slower ▼`; ratios below 1 are faster than the baseline. */
function ratioText(cell: CompareCell | null): string {
  if (!cell) return ''
  if (cell.ratio === undefined) return formatTime(cell.medianNs)
  const { ratio, ratioLow, ratioHigh, verdict } = cell
  const interval = ratioLow === undefined || ratioHigh === undefined ? '' : ` ±${formatPercent((ratioHigh - ratioLow) / 2 / ratio)}`
  return `${ratio.toFixed(3)}${interval}${verdict ? ` ${SIGNS[verdict]} ${verdict}` : ''}`
}

/** The comparison as text: names, differences of the machines, a line per case, and the overall ratios. */
export function comparisonText({ sessions, rows, unmatched, overall, environmentDifferences }: Comparison): string {
  const columns: Column<Comparison['rows'][number]>[] = [
    { title: 'case', cell: (row) => caseWords(row.case) },
    ...sessions.flatMap((_, i): Column<Comparison['rows'][number]>[] => [
      { title: `${letter(i)} median`, align: 'right', cell: (row) => (row.cells[i] ? formatTime(row.cells[i].medianNs) : '') },
      ...(i === 0 ? [] : [{ title: `${letter(i)}/A`, cell: (row: Comparison['rows'][number]) => ratioText(row.cells[i] ?? null) }]),
    ]),
  ]
  const means = overall.flatMap((mean, i) => (mean ? [`${letter(i)}/A over ${mean.cases} ${mean.cases === 1 ? 'case' : 'cases'}: ${mean.ratio.toFixed(3)} (geometric mean of the ratios of medians; below 1 is faster)`] : []))
  const reasons = new Map<string, number>()
  for (const { reason } of unmatched) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [
    ...sessions.map((session, i) => `${letter(i)}: ${oneLine(session.name)} (${session.id}, ${session.createdAt})`),
    ...environmentDifferences.map((difference) => `note: ${oneLine(difference)}`),
    '',
    rows.length > 0 ? table(rows, columns) : 'These sessions have no case in common.',
    '',
    ...means,
    ...[...reasons].map(([reason, count]) => `left out: ${count} ${count === 1 ? 'case' : 'cases'}: ${oneLine(reason)}`),
  ].join('\n').trimEnd()
}

const letter = (i: number) => String.fromCharCode(65 + i)

/** `opscope compare A B ...`: the first session is the baseline. */
export function compare(context: Context, wanted: readonly string[], options: { json?: boolean }): number {
  if (wanted.length < 2) throw new UsageError('compare takes two sessions or more; the first is the baseline')
  const known = context.sessions()
  const ids = wanted.map((text) => findSession(text, known).id)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twice !== undefined) throw new UsageError(`session ${twice} is named twice`)
  const comparison = compareStored(context.history, ids)
  if (options.json) context.printJson(comparison)
  else context.print(comparisonText(comparison))
  return 0
}
