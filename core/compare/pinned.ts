import { z } from 'zod'
import { MAX_NAME, renameNamed, withNamed } from '../session/named'
import { caseId, type BenchmarkCase } from '../case'
import { onSameHardware, type Bench } from '../session/joinable'
import { formatInteger, speedupWords } from '../units'
import { countedCases } from './report/answer'
import { findingsOf, summarizeSide, wrongCases } from './report/summary'
import type { Comparison } from './types'

/** A session that later sessions of a project are compared with. `name`: the project, unique among the pins. */
const pinSchema = z.object({ name: z.string().trim().min(1).max(MAX_NAME), sessionId: z.string().min(1).max(64) })
export type Pin = z.infer<typeof pinSchema>

const MAX_PINS = 100
export const pinsSchema = z.array(pinSchema).max(MAX_PINS)
const KIND = { word: 'pinned baseline', most: MAX_PINS }

/** The pins with this one (withNamed): a project has one baseline, and a session is that of one project. */
export const withPin = (pins: readonly Pin[], pin: Pin): Pin[] => withNamed(pins.filter(({ sessionId }) => sessionId !== pin.sessionId), pin, KIND)

/** The pins with a project under another name (renameNamed). */
export const renamePin = (pins: readonly Pin[], from: string, to: string): Pin[] => renameNamed(pins, from, to, KIND)

/** What the comparison of a session with an earlier one came to. */
const checkSchema = z.object({
  sessionId: z.string().min(1).max(64),
  baselineId: z.string().min(1).max(64),
  /** Cases compared, and how many got each verdict; `wrong`: those that failed verification here alone. */
  cases: z.number().int().nonnegative(),
  slower: z.number().int().nonnegative(),
  faster: z.number().int().nonnegative(),
  unclear: z.number().int().nonnegative(),
  wrong: z.number().int().nonnegative(),
  /** Slower cases in words with their speedup over the baseline (below 1), the largest effect first; a few. Sentences of earlier versions are dropped. */
  slowest: z.preprocess((list) => (Array.isArray(list) ? list.filter((one) => typeof one !== 'string') : list), z.array(z.object({ what: z.string().max(200), speedup: z.number().positive() })).max(5)),
})
export type Check = z.infer<typeof checkSchema>

/** The comparison of a finished session with the pinned baseline of a project. */
export const baselineCheckSchema = checkSchema.extend({ project: z.string().max(MAX_NAME) })
export type BaselineCheck = z.infer<typeof baselineCheckSchema>

export const MAX_CHECKS = 1000
/** What is kept of baselines; checks with the newest first. */
export const baselinesSchema = z.object({ pins: pinsSchema, checks: z.array(baselineCheckSchema).max(MAX_CHECKS) })
export type Baselines = z.infer<typeof baselinesSchema>
export const NO_BASELINES: Baselines = { pins: [], checks: [] }

/** A session with its cases, as far as a baseline is chosen by it. */
export interface Measured {
  environment: Bench
  cases: readonly BenchmarkCase[]
}

/** How many cases of a session the baseline has too, measured on the same hardware; driver, libraries and code may differ. */
export function commonCases(baseline: Measured, session: Measured): number {
  const known = new Set(baseline.cases.map(caseId))
  return session.cases.filter((c) => known.has(caseId(c)) && onSameHardware(baseline.environment, session.environment, c)).length
}

/** The comparison of a session of a suite with the run before it, begun at this time (ISO 8601 UTC). */
export const suiteCheckSchema = checkSchema.extend({ baselineAt: z.string() })
export type SuiteCheck = z.infer<typeof suiteCheckSchema>

/** What a comparison of a baseline (first side) with a session (second side) says. `nameOf` words a case. */
export function checkOf(comparison: Comparison, nameOf: (c: BenchmarkCase) => string): Check {
  const { counts, cases } = summarizeSide(comparison.rows, 1)
  const [baseline, session] = comparison.sessions
  const slowest = findingsOf(comparison, 'slower').slice(0, 5).map(({ row, cell }) => ({ what: nameOf(row.case).slice(0, 200), speedup: cell.speedup }))
  return { sessionId: session!.id, baselineId: baseline!.id, cases, slower: counts.slower, faster: counts.faster, unclear: counts.ambiguous, wrong: wrongCases(comparison).length, slowest }
}

/** `softmax 4096x4096 f32 cuda kernel cold: 1.20x slower`. */
export const slowestText = ({ what, speedup }: Check['slowest'][number]): string => `${what}: ${speedupWords(speedup)}`

/** `3 cases slower and 1 faster than the baseline of “nightly” (48 compared)`. */
export const checkText = (check: BaselineCheck): string => verdictText(check, `the baseline of “${check.project}”`)

/** The same against something else: `the previous run`. */
export function verdictText({ cases, slower, faster, wrong }: Check, baseline: string): string {
  const found = [...(wrong ? [`${countedCases(wrong)} failed verification`] : []), ...(slower ? [`${countedCases(slower)} slower`] : []), ...(faster ? [`${slower ? formatInteger(faster) : countedCases(faster)} faster`] : [])]
  return `${found.length ? found.join(', ') : 'No case slower or faster'}${slower || faster || !found.length ? ' than' : ', against'} ${baseline} (${formatInteger(cases)} compared)`
}

/** Whether a check is an alert: something is slower, or failed. */
export const isAlert = ({ slower, wrong }: Check): boolean => slower > 0 || wrong > 0
