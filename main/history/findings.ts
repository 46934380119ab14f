import { setImmediate } from 'node:timers/promises'
import { advise, detailsOf, type Finding, type ResultDetails } from '@core/analysis/advice'
import { STATUSES } from '@core/result'
import { ceilingsOfSession } from '@core/roofline/ceilings'
import { GRADES, rowAt } from '@core/session/rows'
import type { History } from './types'

/** Whole results read between two looks at other requests. */
const PAUSE = 100

/**
 * What stands out in a stored session. Only results below grade A are read whole: labels, timers and stop reasons that
 * say something are reasons for the grade.
 */
export async function findingsOf(history: Pick<History, 'getSession' | 'rows' | 'result' | 'ceilings'>, sessionId: string): Promise<Finding[]> {
  const { environment, results } = history.getSession(sessionId)
  const block = history.rows(sessionId, 0, Math.max(1, results))
  const details = new Map<string, ResultDetails>()
  for (const [i, id] of block.ids.entries()) {
    if (STATUSES[block.status[i]!] !== 'ok' || GRADES[block.grade[i]!] === 'A') continue
    details.set(id, detailsOf(history.result(id)))
    if (details.size % PAUSE === 0) await setImmediate()
  }
  return advise({ rows: block.ids.map((_, i) => rowAt(block, i)), ceilings: ceilingsOfSession(environment, history.ceilings()), details, environment })
}
