import { machineSchema, placeOf, type CaseHistory, type CasePoint, type Place } from '@core/analysis/case-history'
import type { BenchmarkCase } from '@core/case'
import { STATUSES, type Grade } from '@core/result'
import { GRADES, ROW_NUMBERS } from '@core/session/rows'
import { quantileOfSorted, sorted } from '@core/stats/descriptive'
import { fromBytes, parseStored, readable } from './codec'
import { query, type Database } from '../database/database'

const OK = STATUSES.indexOf('ok')
const MEDIAN = ROW_NUMBERS.indexOf('medianNs')
const LOW = ROW_NUMBERS.indexOf('ciLowNs')
const HIGH = ROW_NUMBERS.indexOf('ciHighNs')

interface Measured {
  session: number
  id: string
  grade: number
  numbers: Float64Array
}

const finite = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value)

/** Several results of one session as one: none of its runs is better than another. */
function together(results: readonly Measured[]): Omit<CasePoint, 'sessionId' | 'name' | 'createdAt' | 'place'> {
  const lows = results.map(({ numbers }) => numbers[LOW]).filter(finite)
  const highs = results.map(({ numbers }) => numbers[HIGH]).filter(finite)
  const medians = sorted(results.map(({ numbers }) => numbers[MEDIAN]!))!
  const grade: Grade | undefined = GRADES[Math.max(...results.map((result) => result.grade))]
  return {
    resultId: results[0]!.id,
    medianNs: quantileOfSorted(medians, 0.5),
    ...(lows.length === results.length && highs.length === results.length ? { ciLowNs: Math.min(...lows), ciHighNs: Math.max(...highs) } : {}),
    ...(grade ? { grade } : {}),
    results: results.length,
  }
}

/** The facts of a session's machine that bear on a case; none where they were not kept or cannot be read. */
function placeIn(machineJson: string | null, { backend, device }: BenchmarkCase): Place {
  if (machineJson === null) return []
  const [stored] = readable<unknown>([{ json: machineJson }])
  const machine = machineSchema.safeParse(stored)
  return machine.success ? placeOf(machine.data, backend, device) : []
}

/**
 * One case, by its identity, over all sessions. Blocks measured interleaved and self-checks are no measurements of their
 * own. The same measurement in several sessions (merged, split, imported twice) counts once, where it stood first.
 */
export function caseHistory(db: Database, identity: string): CaseHistory {
  const cases = db.all(query.selectFrom('cases').select(['key', 'json']).where('identity', '=', identity))
  if (cases.length === 0) return { points: [], failed: 0 }
  const benchmarkCase = parseStored<BenchmarkCase>(cases[0]!.json, 'This case')
  const rows = db.all(
    query
      .selectFrom('results')
      .innerJoin('sessions', 'sessions.key', 'results.session')
      .select(['results.session', 'results.id', 'results.status', 'results.grade', 'results.numbers', 'sessions.id as sessionId', 'sessions.name', 'sessions.created_at', 'sessions.machine'])
      .where('results.case_key', 'in', cases.map(({ key }) => key))
      .where('sessions.deleted_at', 'is', null)
      .where((eb) => eb.or([eb('sessions.about', 'is', null), eb('sessions.about', 'not in', ['interleaved', 'self-check'])]))
      .orderBy('sessions.created_at')
      .orderBy('results.session')
      .orderBy('results.position'),
  )
  const seen = new Set<string>()
  const places = new Map<string | null, Place>()
  const points: CasePoint[] = []
  let failed = 0
  for (let first = 0; first < rows.length; ) {
    const { session, sessionId, name, created_at: createdAt, machine } = rows[first]!
    const own: Measured[] = []
    let next = first
    for (; rows[next]?.session === session; next++) {
      const { id, status, grade, numbers: bytes } = rows[next]!
      const numbers = fromBytes(bytes)
      if (status !== OK || !finite(numbers[MEDIAN])) {
        failed++
        continue
      }
      const mark = Buffer.from(bytes).toString('latin1')
      if (seen.has(mark)) continue
      seen.add(mark)
      own.push({ session, id, grade, numbers })
    }
    first = next
    if (own.length === 0) continue
    let place = places.get(machine)
    if (!place) places.set(machine, (place = placeIn(machine, benchmarkCase)))
    points.push({ sessionId, name, createdAt, ...together(own), place })
  }
  return { case: benchmarkCase, points, failed }
}
