import { z } from 'zod'
import { resultSchema, type Result } from '../../result'
import { sessionFileSchema } from '../../session/types'
import type { ImportOutcome } from '../types'
import { consistencyProblem, describeIssues } from './check'

/**
 * The last step of every importer: what it made is held to the same rules as a native file. Takes the results out of
 * `file`, so that memory holds each of them once.
 */
export function finishImport(file: unknown): ImportOutcome {
  const head = sessionFileSchema.omit({ results: true }).safeParse(file)
  if (!head.success) return { ok: false, message: describeIssues(head.error.issues, file) }
  const { results } = file as { results?: unknown }
  if (!Array.isArray(results)) return { ok: false, message: describeIssues(atResults(z.array(z.unknown()).safeParse(results).error?.issues ?? []), file) }
  const read: Result[] = []
  // One after the other: all that is wrong with a million results would be a list of millions.
  for (let i = 0; i < results.length; i++) {
    const result = resultSchema.safeParse(results[i])
    if (!result.success) return { ok: false, message: describeIssues(atResults(result.error.issues, i), file) }
    read.push(result.data)
    results[i] = undefined
  }
  const whole = { ...head.data, results: read }
  const problem = consistencyProblem(whole)
  return problem === undefined ? { ok: true, file: whole } : { ok: false, message: problem }
}

const atResults = (issues: readonly z.core.$ZodIssue[], ...place: number[]) => issues.map((issue) => ({ ...issue, path: ['results', ...place, ...issue.path] }))

/** A value as a schema reads it, or the first thing that is wrong with it in words. */
export function readAs<T extends z.ZodType>(schema: T, value: unknown): { ok: true; value: z.output<T> } | { ok: false; message: string } {
  const parsed = schema.safeParse(value)
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, message: describeIssues(parsed.error.issues, value) }
}
