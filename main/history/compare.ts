import { hostname } from 'node:os'
import { compareSessionsSteps, compareWithinSteps, drain, pairRatios, typicalBlock, type ComparedSession, type Comparison, type CompareRequest, type PairRatios, type Steps, type Thresholds } from '@core/compare'
import { rowAt, type Row } from '@core/session/rows'
import { whyNotJoinable } from '@core/session/joinable'
import type { Environment } from '@core/session/types'
import { FileSides } from '../compare/file-sides'
import type { History } from './types'

/** Rows read in one step: some 20 ms. */
const PAGE = 2_500

/** All rows of a stored session, a step per page. */
function* rowsOf(history: History, id: string, count: number): Steps<Row[]> {
  const rows: Row[] = []
  for (let first = 0; first < count; first += PAGE) {
    const block = history.rows(id, first, Math.min(PAGE, count - first))
    for (let i = 0; i < block.ids.length; i++) rows.push(rowAt(block, i))
    yield { done: 0, total: count }
  }
  return rows
}

/**
 * Interleaved measurements that add to a session, a step per block; blocks are held by their typical time alone. Those of
 * another machine, driver or code, which earlier versions took, do not count.
 */
function* blocksOf(history: History, { id: sessionId, environment }: ComparedSession): Steps<PairRatios> {
  const sessions = []
  for (const { id } of history.addedTo(sessionId)) {
    const blocks = []
    const added = history.getSession(id).environment
    const joins = new Map<string, boolean>()
    for (const result of history.results(id)) {
      const device = `${result.case.backend} ${result.case.device}`
      if (!joins.has(device)) joins.set(device, whyNotJoinable(environment, added, [result.case]) === undefined)
      if (!joins.get(device)) continue
      const { samplesNs, clocksMhz, interrupted = false } = typicalBlock(result)
      if (result.block) blocks.push({ case: result.case, status: result.status, block: result.block, samplesNs: Array.from(samplesNs), interrupted, ...(clocksMhz ? { clocksMhz: Array.from(clocksMhz) } : {}) })
      yield { done: 0, total: 1 }
    }
    sessions.push(blocks)
  }
  return pairRatios(sessions)
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

/** Where sessions come from: the history, and files held open beside it. */
export interface CompareSources {
  history: History
  files?: FileSides | undefined
}

/**
 * Compares stored sessions and open files, the first being the baseline, or the cases within one along an axis, with what
 * interleaved runs have added to it. Throws NotFoundError for an unknown session and UnknownValueError for an unknown
 * baseline value.
 */
export function* compareStoredSteps({ history, files }: CompareSources, request: CompareRequest, thresholds: Thresholds = {}): Steps<Comparison> {
  function* load(id: string): Steps<ComparedSession> {
    if (FileSides.isFile(id) && files) {
      const { side, environment, rows } = files.get(id)
      return { id, name: side.name, createdAt: side.createdAt, fileName: side.fileName, environment, rows }
    }
    const { session, environment, results } = history.getSession(id)
    return { id, name: session.name, createdAt: session.createdAt, environment: withOwnFloors(history, environment), rows: yield* rowsOf(history, id, results) }
  }
  const resultOf = (resultId: string) => (FileSides.isFile(resultId) && files ? files.result(resultId) : history.result(resultId))
  const options = { ...thresholds, filter: request.filter }
  if ('sessionIds' in request) {
    const sessions: ComparedSession[] = []
    for (const id of request.sessionIds) sessions.push(yield* load(id))
    return yield* compareSessionsSteps(sessions, resultOf, options)
  }
  const session = yield* load(request.sessionId)
  const pairs = session.fileName === undefined ? yield* blocksOf(history, session) : undefined
  return yield* compareWithinSteps(session, request, resultOf, { ...options, pairs })
}

/** compareStoredSteps at once, of the history alone. */
export const compareStored = (history: History, request: CompareRequest, thresholds: Thresholds = {}): Comparison => drain(compareStoredSteps({ history }, request, thresholds))
