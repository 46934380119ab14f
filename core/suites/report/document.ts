import type { Ceiling, SessionFile } from '../../session/types'
import { findSuite, suiteOfSession, type Suite } from '../index'
import { suiteFigure, type SuiteFigure } from './figure'
import { suiteReport, suiteResults, type SuitePart } from './index'

/** A session as the report of a suite. */
export interface SuiteDocument {
  suite: Suite
  /** False where no suite made the session, so that it is judged by the rules of another. */
  own: boolean
  /** Processor and devices in one line. */
  machine: string
  parts: SuitePart[]
  figure: SuiteFigure
}

/** What a session is judged as that no suite made. */
const FALLBACK = 'genesis'

/** The report of the suite that a session is of. */
export function suiteDocument({ session, environment, results }: SessionFile, ceilings: readonly Ceiling[]): SuiteDocument {
  const own = suiteOfSession(session)
  const suite = own ?? findSuite(FALLBACK)!
  const rows = suiteResults(results)
  return {
    suite, own: own !== undefined, machine: [...new Set([environment.cpu, ...environment.devices.map(({ name }) => name)])].join(', '),
    parts: suiteReport(suite, rows, { ceilings, ...(session.spec ? { spec: session.spec } : {}) }), figure: suiteFigure(suite, rows, ceilings),
  }
}
