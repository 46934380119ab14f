import { consistencyProblem } from '../shared/check'
import { sessionFileSchema } from '../../session/types'
import { importSession } from '../registry'
import { ImportSource } from '../source'
import type { FileFormat, ImportOutcome } from '../types'
import { mutate } from './mutate'

/** How damaged files fared. */
export interface MutationReport {
  accepted: number
  refused: number
  /** Taken for another format, or for none. */
  foreign: number
  /** What must not be: `seed 17: threw RangeError: ...`. At most ten. */
  problems: string[]
}

/** What an importer may never answer; undefined when the answer is a valid session, one message, or "not mine". */
function outcomeProblem(outcome: ImportOutcome | null): string | undefined {
  if (outcome === null) return undefined
  if (!outcome.ok) return /\S/.test(outcome.message) && outcome.message.length < 1000 ? undefined : `a message of ${outcome.message.length} characters`
  const parsed = sessionFileSchema.safeParse(outcome.file)
  if (!parsed.success) return `accepted a session that is not valid: ${parsed.error.issues[0]?.path.join('.')} ${parsed.error.issues[0]?.message}`
  const inconsistent = consistencyProblem(outcome.file)
  return inconsistent === undefined ? undefined : `accepted a session that is not consistent: ${inconsistent}`
}

/**
 * Damages good files in every way of mutate.ts and has the importer read each, alone and through the registry in turn.
 * The same seed gives the same files.
 */
export function checkImporter(format: FileFormat, bases: readonly string[], count: number, seed = 20260101): MutationReport {
  const report: MutationReport = { accepted: 0, refused: 0, foreign: 0, problems: [] }
  for (let i = 0; i < count && report.problems.length < 10; i++) {
    const text = mutate(bases[i % bases.length]!, seed + i)
    try {
      const outcome = i % 4 === 3 ? importSession('m', text, '2026-01-01T00:00:00.000Z') : format.importSession!(new ImportSource('m', text, '2026-01-01T00:00:00.000Z'))
      report[outcome === null ? 'foreign' : outcome.ok ? 'accepted' : 'refused']++
      const problem = outcomeProblem(outcome)
      if (problem !== undefined) report.problems.push(`seed ${seed + i}: ${problem}`)
    } catch (error) {
      report.problems.push(`seed ${seed + i}: threw ${error instanceof Error ? (error.stack ?? error.message).slice(0, 600) : String(error)}`)
    }
  }
  return report
}
