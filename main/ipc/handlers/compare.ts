import { compareSessions, type ComparedSession } from '@core/compare'
import { rowAt, type Row } from '@core/session/rows'
import type { Services } from '../../app/services'
import type { History } from '../../history/types'
import type { Handlers } from '../answer'

/** Rows read at a time, so that a session of 100,000 results is never in memory twice. */
const PAGE = 10_000

function* rowsOf(history: History, id: string, count: number): Generator<Row> {
  for (let first = 0; first < count; first += PAGE) {
    const block = history.rows(id, first, Math.min(PAGE, count - first))
    for (let i = 0; i < block.ids.length; i++) yield rowAt(block, i)
  }
}

export const compareHandlers = ({ history }: Services) =>
  ({
    'compare:run': ({ sessionIds }) => {
      const sides = sessionIds.map((id): ComparedSession => {
        const { session, environment, results } = history.getSession(id)
        return { id, name: session.name, createdAt: session.createdAt, environment, rows: rowsOf(history, id, results) }
      })
      return compareSessions(sides, (resultId) => history.result(resultId).samplesNs)
    },
  }) satisfies Partial<Handlers>
