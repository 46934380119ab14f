import { setImmediate } from 'node:timers/promises'
import { inOrder, RULES, type Finding, type ResultDetails } from '@core/analysis/advice'
import { ceilingsOfSession } from '@core/roofline/ceilings'
import { rowAt, type Row } from '@core/session/rows'
import type { History } from './types'

/** Rows read between two looks at other requests. */
const ROWS = 2000

/** What stands out in a stored session. Only what rules use of results below grade A is read beside the rows: labels, timers and stop reasons that say something are reasons for the grade. Other requests are answered meanwhile. */
export async function findingsOf(history: Pick<History, 'getSession' | 'rows' | 'details' | 'ceilings'>, sessionId: string): Promise<Finding[]> {
  const { environment, results } = history.getSession(sessionId)
  const rows: Row[] = []
  while (rows.length < results) {
    const block = history.rows(sessionId, rows.length, ROWS)
    if (block.ids.length === 0) break
    for (let i = 0; i < block.ids.length; i++) rows.push(rowAt(block, i))
    await setImmediate()
  }
  const details = new Map<string, ResultDetails>()
  for (const page of history.details(sessionId)) {
    for (const [id, own] of page) details.set(id, own)
    await setImmediate()
  }
  const input = { rows, ceilings: ceilingsOfSession(environment, history.ceilings()), details, environment }
  const found: Finding[] = []
  for (const rule of RULES) {
    found.push(...rule.find(input))
    await setImmediate()
  }
  return inOrder(found)
}
