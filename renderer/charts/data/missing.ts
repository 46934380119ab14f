import { statusWord } from '@core/result'
import { formatInteger } from '@core/units'
import { isWithin, type Focus } from './focus'
import type { RowSource } from '../../stores/rows/result-rows'

/** Rows of a focus that its chart does not draw because their case did not end well: their ids, and how many of each outcome in words. Skipped cases are not among them. */
export function missingOf(rows: RowSource, focus: Focus = {}): { ids: string[]; text: string } {
  const ids: string[] = []
  const counts = new Map<string, number>()
  const left = isWithin(focus)
  for (let i = 0; i < rows.length; i++) {
    const status = rows.status(i)
    if (status === 'ok' || status === 'skipped' || !left(rows.case(i))) continue
    ids.push(rows.id(i))
    counts.set(statusWord(status), (counts.get(statusWord(status)) ?? 0) + 1)
  }
  return { ids, text: [...counts].map(([word, count]) => `${formatInteger(count)} ${word}`).join(', ') }
}
