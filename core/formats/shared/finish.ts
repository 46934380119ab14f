import { z } from 'zod'
import { resultSchema, type Result } from '../../result'
import { sessionFileSchema } from '../../session/types'
import type { ImportOutcome } from '../types'
import { consistencyProblem, describeIssues } from './check'
import { heldToSamples, type Claim } from './contradictions'

/** Whether two values of JSON are the same, in whatever order their members are. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((value, i) => isSame(value, b[i]))
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key as never], b[key as never]))
}

/**
 * The last step of every importer: what it made is held to the same rules as a native file. A result that the schema reads as it
 * stands is taken over, and the schema's copy is left to the garbage collector while it is young: memory holds each result once.
 */
export function finishImport(file: unknown): ImportOutcome {
  const head = sessionFileSchema.omit({ results: true }).safeParse(file)
  if (!head.success) return { ok: false, message: describeIssues(head.error.issues, file) }
  const { results } = file as { results?: unknown }
  if (!Array.isArray(results)) return { ok: false, message: describeIssues(atResults(z.array(z.unknown()).safeParse(results).error?.issues ?? []), file) }
  const claims = claimsOf(file)
  const read: Result[] = []
  const warnings: string[] = []
  // One after the other: all that is wrong with a million results would be a list of millions.
  for (let i = 0; i < results.length; i++) {
    const result = resultSchema.safeParse(results[i])
    if (!result.success) return { ok: false, message: describeIssues(atResults(result.error.issues, i), file) }
    const held = heldToSamples(isSame(results[i], result.data) ? (results[i] as Result) : result.data, claims?.get(result.data.id))
    read.push(held.result)
    if (held.warning !== undefined) warnings.push(held.warning)
    results[i] = undefined
  }
  const whole = { ...head.data, results: read }
  const problem = consistencyProblem(whole)
  if (problem !== undefined) return { ok: false, message: problem }
  return warnings.length === 0 ? { ok: true, file: whole } : { ok: true, file: whole, warnings: shortened(warnings) }
}

/** Warnings that are told one by one. */
const MAX_WARNINGS = 20

const shortened = (warnings: readonly string[]) => (warnings.length <= MAX_WARNINGS ? [...warnings] : [...warnings.slice(0, MAX_WARNINGS), `${warnings.length - MAX_WARNINGS} more results contradict their samples in the same way`])

/** What another tool's file states beside the samples, by result id (shared/foreign.ts); JSON has no maps. */
function claimsOf(file: unknown): ReadonlyMap<string, Claim> | undefined {
  const { claims } = file as { claims?: unknown }
  return claims instanceof Map ? (claims as ReadonlyMap<string, Claim>) : undefined
}

const atResults = (issues: readonly z.core.$ZodIssue[], ...place: number[]) => issues.map((issue) => ({ ...issue, path: ['results', ...place, ...issue.path] }))

/** A value as a schema reads it, or the first thing that is wrong with it in words. */
export function readAs<T extends z.ZodType>(schema: T, value: unknown): { ok: true; value: z.output<T> } | { ok: false; message: string } {
  const parsed = schema.safeParse(value)
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, message: describeIssues(parsed.error.issues, value) }
}
