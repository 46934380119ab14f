import { z } from 'zod'
import { resultSchema, type Result } from '../../result'
import { sessionFileSchema, type SessionStream, type SessionFile } from '../../session/types'
import type { ImportOutcome } from '../file-format'
import { impossible, heldToSamples, type Claim } from './contradictions'

/** Far deeper than any session; stops files made to exhaust the stack of whoever walks them. */
const MAX_DEPTH = 32
/** Keys that would reach an object's prototype wherever the value is copied key by key. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** `results[3].samplesNs[7]` from a path of keys and indexes. */
function formatPlace(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key)), '') || 'the file'
}

interface Step {
  key: string | number
  value: unknown
  depth: number
  parent: Step | undefined
}

function pathOf(step: Step): PropertyKey[] {
  const path: PropertyKey[] = []
  for (let at: Step | undefined = step; at?.parent; at = at.parent) path.unshift(at.key)
  return path
}

/** What makes the structure itself unsafe: depth, or keys that reach a prototype. Walks without recursion. */
export function structureProblem(root: unknown): string | undefined {
  const stack: Step[] = [{ key: '', value: root, depth: 0, parent: undefined }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { value, depth } = step
    if (typeof value !== 'object' || value === null) continue
    if (depth >= MAX_DEPTH) return `${formatPlace(pathOf(step)).slice(0, 200)}: nested deeper than ${MAX_DEPTH} levels`
    if (Array.isArray(value)) {
      // Long arrays of numbers need no visit each.
      for (const [key, item] of value.entries()) if (typeof item === 'object' && item !== null) stack.push({ key, value: item, depth: depth + 1, parent: step })
      continue
    }
    for (const key of Object.keys(value)) {
      if (FORBIDDEN.has(key)) return `${formatPlace([...pathOf(step), key])}: the key "${key}" is not allowed`
      stack.push({ key, value: (value as Record<string, unknown>)[key], depth: depth + 1, parent: step })
    }
  }
  return undefined
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined), root)
}

function received(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? (value.length > 60 ? `a text of ${value.length} characters` : JSON.stringify(value)) : String(value)
}

function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return { string: 'a text', array: 'a list', object: 'an object', record: 'an object', boolean: 'true or false', int: 'a whole number', number: 'a number' }[issue.expected as string] ?? String(issue.expected)
    case 'too_small':
      return issue.origin === 'string' ? `a text of at least ${issue.minimum} characters` : `a number ${issue.inclusive ? 'of at least' : 'above'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string' ? `a text of at most ${issue.maximum} characters` : issue.origin === 'array' ? `at most ${issue.maximum} entries` : `a number of at most ${issue.maximum}`
    case 'invalid_value':
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    default:
      return issue.message
  }
}

/** The first thing zod found wrong, as place, expectation and what was there; `and N more` when it is not alone. */
function describeIssues(issues: readonly z.core.$ZodIssue[], root: unknown): string {
  const [first] = issues
  if (!first) return 'the file: not valid'
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return `${formatPlace(first.path).slice(0, 200)}: expected ${expected(first)}, received ${received(valueAt(root, first.path))}${more}`
}

const isInstant = (text: string) => INSTANT.test(text) && !Number.isNaN(Date.parse(text))

/** Ids are typed in terminals and written into names of files: nothing that either would act on. */
const isId = (text: string) => /^[A-Za-z0-9][\w.:-]*$/.test(text)
const wrongId = (place: string, id: string) => `${place}: expected an id of letters, digits, ".", "_", ":" and "-", received ${received(id)}`

/** What is wrong with ids, times and between fields that are each well formed. */
export function consistencyProblem({ session, results }: SessionFile): string | undefined {
  if (!isId(session.id)) return wrongId('session.id', session.id)
  if (session.about?.session !== undefined && !isId(session.about.session)) return wrongId('session.about.session', session.about.session)
  if (!isInstant(session.createdAt)) return `session.createdAt: expected a time such as 2026-01-31T12:00:00Z, received ${received(session.createdAt)}`
  const ids = new Map<string, number>()
  for (const [i, result] of results.entries()) {
    const place = `results[${i}]`
    if (!isId(result.id)) return wrongId(`${place}.id`, result.id)
    const first = ids.get(result.id)
    if (first !== undefined) return `${place}.id: expected an id of its own, received that of results[${first}], ${received(result.id)}`
    ids.set(result.id, i)
    if (!isInstant(result.startedAt)) return `${place}.startedAt: expected a time such as 2026-01-31T12:00:00Z, received ${received(result.startedAt)}`
    const wrong = result.summary && impossible(result.summary)
    if (wrong !== undefined) return `${place}.summary: ${wrong}`
    if (result.status === 'ok' && !result.summary) return `${place}.summary: expected statistics, because the status is "ok", received nothing`
  }
  return undefined
}

const headSchema = sessionFileSchema.omit({ results: true })
const refuse = (what: string) => new Error(`the session cannot be exported: ${what}`)

/** What a native file has beside the results, with the fields of the schema only. Throws saying what is not valid. */
export function checkedHead(session: SessionStream): Omit<SessionFile, 'results'> {
  const parsed = headSchema.safeParse(session)
  if (!parsed.success) throw refuse(describeIssues(parsed.error.issues, session))
  return parsed.data
}

/** Each result with the fields of the schema only; throws at one that is not valid, with its place in the session. */
export function* checkedResults({ results }: SessionStream): Generator<Result, void> {
  let i = 0
  for (const result of results) {
    const parsed = resultSchema.safeParse(result)
    if (!parsed.success) throw refuse(describeIssues(parsed.error.issues.map((issue) => ({ ...issue, path: ['results', i, ...issue.path] })), { results: { [i]: result } }))
    yield parsed.data
    i++
  }
}

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
