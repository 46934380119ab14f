import { caseText } from '@core/case-words'
import type { Steps, Thresholds } from '@core/compare'
import { checkOf, commonCases, type BaselineCheck, type Measured, type Pin, type SuiteCheck } from '@core/compare/pinned'
import { compareStoredSteps } from '../history/compare'
import { NotFoundError, type History } from '../history/types'

/** Environment and cases of a stored session that is not deleted; undefined without one. */
function measured(history: History, id: string): Measured | undefined {
  try {
    const { environment, results } = history.getSession(id)
    return { environment, cases: history.rows(id, 0, Math.max(1, results)).cases }
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

/** The pinned baseline of a session: that with which it has most cases in common on the same hardware; undefined without any. */
export function baselineFor(history: History, pins: readonly Pin[], sessionId: string): Pin | undefined {
  const there = new Set(history.listSessions({ search: '', deleted: false }).map(({ id }) => id))
  const session = measured(history, sessionId)
  // A baseline is not compared with itself.
  if (!session || pins.some((pin) => pin.sessionId === sessionId)) return undefined
  let best: { pin: Pin; common: number } | undefined
  for (const pin of pins) {
    const baseline = there.has(pin.sessionId) ? measured(history, pin.sessionId) : undefined
    const common = baseline ? commonCases(baseline, session) : 0
    if (common > (best?.common ?? 0)) best = { pin, common }
  }
  return best?.pin
}

/** Compares a session with its pinned baseline by the rule of every comparison; undefined where it has none. */
export function* checkSteps(history: History, pins: readonly Pin[], sessionId: string, thresholds: Thresholds): Steps<BaselineCheck | undefined> {
  const pin = baselineFor(history, pins, sessionId)
  if (!pin) return undefined
  const comparison = yield* compareStoredSteps({ history }, { sessionIds: [pin.sessionId, sessionId] }, thresholds)
  return { ...checkOf(comparison, (c) => caseText(c)), project: pin.name }
}

/** Older runs of a suite than these are not looked at. */
const LOOKED_AT = 20

/**
 * The run that one of a suite is compared with: of the complete sessions of the same suite before it, the one with most of its cases
 * on the same hardware, and of several the newest; undefined without any.
 */
export function previousOfSuite(history: History, sessionId: string): string | undefined {
  const session = measured(history, sessionId)
  const { suite, createdAt } = suiteAndTime(history, sessionId)
  if (!session || suite === undefined) return undefined
  const earlier = history.suiteSessions().filter((one) => {
    if (one.suite !== suite || one.id === sessionId) return false
    const other = history.getSession(one.id).session
    return other.state === 'done' && other.createdAt <= createdAt
  })
  let best: { id: string; common: number } | undefined
  for (const { id } of earlier.slice(0, LOOKED_AT)) {
    const other = measured(history, id)
    const common = other ? commonCases(other, session) : 0
    if (common > (best?.common ?? 0)) best = { id, common }
    if (common === session.cases.length) break
  }
  return best?.id
}

function suiteAndTime(history: History, id: string): { suite: string | undefined; createdAt: string } {
  const { session } = history.getSession(id)
  return { suite: session.spec?.suite, createdAt: session.createdAt }
}

/** Compares a session of a suite with the run before it; undefined where there is none. */
export function* suiteCheckSteps(history: History, sessionId: string, thresholds: Thresholds): Steps<SuiteCheck | undefined> {
  const previous = previousOfSuite(history, sessionId)
  if (previous === undefined) return undefined
  const comparison = yield* compareStoredSteps({ history }, { sessionIds: [previous, sessionId] }, thresholds)
  return { ...checkOf(comparison, (c) => caseText(c)), baselineAt: history.getSession(previous).session.createdAt }
}
