import { caseText } from '@core/case-words'
import type { Steps, Thresholds } from '@core/compare'
import { checkOf, commonCases, type BaselineCheck, type Measured, type Pin } from '@core/compare/pinned'
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
  return checkOf(comparison, pin.name, (c) => caseText(c))
}
