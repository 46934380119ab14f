import { compareSessions, type ComparedSession, type Comparison } from '@core/compare'
import { rowAt, type RowBlock } from '@core/session/rows'
import type { History } from './types'

function* rowsOf(block: RowBlock) {
  for (let i = 0; i < block.ids.length; i++) yield rowAt(block, i)
}

/** Compares stored sessions, the first being the baseline. Throws NotFoundError for an unknown one. */
export function compareStored(history: History, sessionIds: readonly string[]): Comparison {
  const sessions = sessionIds.map((id): ComparedSession => {
    const { session, environment, results } = history.getSession(id)
    return { id, name: session.name, createdAt: session.createdAt, environment, rows: rowsOf(history.rows(id, 0, results)) }
  })
  return compareSessions(sessions, (resultId) => history.result(resultId).samplesNs)
}
