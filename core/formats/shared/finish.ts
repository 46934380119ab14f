import type { z } from 'zod'
import { sessionFileSchema } from '../../session/types'
import type { ImportOutcome } from '../types'
import { consistencyProblem, describeIssues } from './check'

/** The last step of every importer: what it made is held to the same rules as a native file. */
export function finishImport(file: unknown): ImportOutcome {
  const parsed = sessionFileSchema.safeParse(file)
  if (!parsed.success) return { ok: false, message: describeIssues(parsed.error.issues, file) }
  const problem = consistencyProblem(parsed.data)
  return problem === undefined ? { ok: true, file: parsed.data } : { ok: false, message: problem }
}

/** A value as a schema reads it, or the first thing that is wrong with it in words. */
export function readAs<T extends z.ZodType>(schema: T, value: unknown): { ok: true; value: z.output<T> } | { ok: false; message: string } {
  const parsed = schema.safeParse(value)
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, message: describeIssues(parsed.error.issues, value) }
}
