import { hostname } from 'node:os'
import { compareSessions, compareWithin, pairRatios, THRESHOLD, type ComparedSession, type Comparison, type CompareRequest } from '@core/compare'
import { rowAt, type Row } from '@core/session/rows'
import type { Environment } from '@core/session/types'
import type { History } from './types'

/** Rows read at a time, so that a session of 100,000 results is never in memory twice. */
const PAGE = 10_000

function* rowsOf(history: History, id: string, count: number): Generator<Row> {
  for (let first = 0; first < count; first += PAGE) {
    const block = history.rows(id, first, Math.min(PAGE, count - first))
    for (let i = 0; i < block.ids.length; i++) yield rowAt(block, i)
  }
}

/**
 * The environment with the noise floors that were found later on the same machine, device and driver: they hold for a
 * session that was made before the machine was first compared with itself.
 */
function withOwnFloors(history: History, environment: Environment): Environment {
  if (environment.host !== hostname()) return environment
  const own = history.noiseFloors().filter((floor) => environment.devices.some((d) => d.backend === floor.backend && d.id === floor.device && d.name === floor.deviceName && d.driver === floor.driver))
  return own.length > 0 ? { ...environment, noiseFloors: [...(environment.noiseFloors ?? []), ...own] } : environment
}

/**
 * Compares stored sessions, the first being the baseline, or the cases within one along an axis, with what interleaved
 * runs have added to it. Throws NotFoundError for an unknown session and UnknownValueError for an unknown baseline value.
 */
export function compareStored(history: History, request: CompareRequest, threshold = THRESHOLD): Comparison {
  const load = (id: string): ComparedSession => {
    const { session, environment, results } = history.getSession(id)
    return { id, name: session.name, createdAt: session.createdAt, environment: withOwnFloors(history, environment), rows: rowsOf(history, id, results) }
  }
  const resultOf = (resultId: string) => history.result(resultId)
  if ('sessionIds' in request) return compareSessions(request.sessionIds.map(load), resultOf, threshold)
  const pairs = pairRatios(history.addedTo(request.sessionId).map(({ id }) => history.results(id)))
  return compareWithin(load(request.sessionId), request, resultOf, { pairs, threshold })
}
