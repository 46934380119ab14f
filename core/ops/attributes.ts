import { z } from 'zod'
import type { Params } from '../case'

/** What came instead of what was expected, for a message. */
export const received = (value: unknown): string => (typeof value === 'string' ? `"${value.slice(0, 40)}"` : value === undefined || typeof value === 'symbol' ? 'nothing' : String(value))

/** A value an attribute can have. */
export type AttributeValue = string | number | boolean

/**
 * A scalar of an op that is no size. It is part of a case's identity; at its default it is left out there, so that naming
 * the default or not is the same case. A choice without a default is always written; a sweep that names none takes its first word.
 */
export type AttributeSpec = { title: string } & (
  | { kind: 'choice'; words: readonly [string, ...string[]]; default?: string }
  | { kind: 'number'; default: number; min: number; max: number; whole?: boolean }
  | { kind: 'flag'; default: boolean }
)

/** What keeps a norm of equal values finite, as every norm takes it. */
export const EPS = { eps: { title: 'Epsilon', kind: 'number', default: 1e-5, min: 0, max: 1 } } as const

/** The value a case has where it does not name the attribute; undefined where it must. */
export const defaultOf = (spec: AttributeSpec): AttributeValue | undefined => spec.default

/** What an attribute takes, for messages: `one of all, last, first`, `a number from 0 to 1`, `true or false`. */
export function expectedOf(spec: AttributeSpec): string {
  if (spec.kind === 'choice') return `one of ${spec.words.join(', ')}`
  if (spec.kind === 'flag') return 'true or false'
  return `a ${spec.whole ? 'whole ' : ''}number from ${spec.min} to ${spec.max}`
}

/** Checks one attribute; its default, where it has one, stands in for nothing. */
export function attributeSchema(spec: AttributeSpec): z.ZodType<AttributeValue> {
  const error = (issue: { input?: unknown }) => `expected ${expectedOf(spec)}, received ${received(issue.input)}`
  const fits = (value: AttributeValue) =>
    spec.kind === 'choice' ? spec.words.includes(value as string) : spec.kind === 'flag' ? typeof value === 'boolean' : typeof value === 'number' && value >= spec.min && value <= spec.max && (!spec.whole || Number.isInteger(value))
  const known = z.custom<AttributeValue>((value) => value !== undefined && fits(value as AttributeValue), { error })
  return spec.default === undefined ? known : known.default(spec.default)
}

/** The value that a text on the command line or in an editor stands for. Throws RangeError with what was expected. */
export function readAttribute(name: string, spec: AttributeSpec, text: string): AttributeValue {
  const value = spec.kind === 'choice' ? text : spec.kind === 'flag' ? { true: true, false: false }[text] : text.trim() === '' ? undefined : Number(text)
  const parsed = attributeSchema(spec).safeParse(value ?? Symbol('none'))
  if (!parsed.success) throw new RangeError(`${name}: expected ${expectedOf(spec)}, received "${text}"`)
  return parsed.data
}

/** Parameters with the eps of a norm as a call states it; undefined where there are none. */
export const withEps = <P extends object>(params: P | undefined, eps: number): (P & { eps: number }) | undefined => params && { ...params, eps }

/** Words for a case's attributes: those without a default, those that differ from it (`last`, `eps=0.001`, `causal`), and words that no attribute stands for. */
export function attributeWords(specs: Readonly<Record<string, AttributeSpec>>, params: Params): string[] {
  return Object.entries(params).flatMap(([name, value]) => {
    const spec = Object.hasOwn(specs, name) ? specs[name]! : undefined
    if (!spec) return typeof value === 'string' ? [value] : []
    if (value === spec.default) return []
    if (spec.kind === 'choice' && spec.default === undefined) return [String(value)]
    if (spec.kind === 'flag') return [value ? name : `no ${name}`]
    return [`${name}=${String(value)}`]
  })
}
