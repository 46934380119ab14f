import { z } from 'zod'
import type { BenchmarkCase } from '../case'
import { findOp } from '../ops/registry'

/** What a comparison can be narrowed by. */
export const FILTER_KEYS = ['family', 'op', 'dtype', 'mode', 'backend'] as const
export type FilterKey = (typeof FILTER_KEYS)[number]

/** Values to keep for each key; a key that is absent keeps all. */
export const caseFilterSchema = z.partialRecord(z.enum(FILTER_KEYS), z.array(z.string().min(1).max(80)).min(1).max(1000))
export type CaseFilter = z.infer<typeof caseFilterSchema>

/** Family of operations that other tools measured. */
const OTHER_FAMILY = 'other'
export const familyOf = (op: string): string => findOp(op)?.family ?? OTHER_FAMILY

const filterValue = (key: FilterKey, c: BenchmarkCase): string => (key === 'family' ? familyOf(c.op) : c[key])

/** Whether a case is in the subset. */
export function inSubset(filter: CaseFilter): (c: BenchmarkCase) => boolean {
  const wanted = FILTER_KEYS.flatMap((key) => (filter[key] ? [{ key, values: new Set(filter[key]) }] : []))
  return (c) => wanted.every(({ key, values }) => values.has(filterValue(key, c)))
}

/** The values that occur for each key with the number of cases that have them, in the order first met. */
export const facetsSchema = z.record(z.enum(FILTER_KEYS), z.array(z.object({ value: z.string(), cases: z.number().int().positive() })))
export type Facets = z.infer<typeof facetsSchema>

/** What can be chosen among these cases. */
export function facetsOf(cases: Iterable<BenchmarkCase>): Facets {
  const counts = FILTER_KEYS.map((key) => ({ key, found: new Map<string, number>() }))
  for (const c of cases) {
    for (const { key, found } of counts) {
      const value = filterValue(key, c)
      found.set(value, (found.get(value) ?? 0) + 1)
    }
  }
  return Object.fromEntries(counts.map(({ key, found }) => [key, [...found].map(([value, n]) => ({ value, cases: n }))])) as Facets
}
