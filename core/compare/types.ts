import { z } from 'zod'
import { benchmarkCaseSchema, type BenchmarkCase } from '../case'
import { machineOf } from '../fleet/machines'
import { cardSpreadSchema } from '../fleet/spread'
import { findOp } from '../ops/registry'
import { gradeSchema, statusSchema } from '../result'
import { noiseFloorSchema } from '../session/types'

/** What a comparison can be narrowed by. */
export const FILTER_KEYS = ['family', 'op', 'dtype', 'mode', 'backend', 'device', 'host'] as const
export type FilterKey = (typeof FILTER_KEYS)[number]

/** Values to keep for each key; a key that is absent keeps all. */
export const caseFilterSchema = z.partialRecord(z.enum(FILTER_KEYS), z.array(z.string().min(1).max(80)).min(1).max(1000))
export type CaseFilter = z.infer<typeof caseFilterSchema>

/** Family of operations that other tools measured. */
const OTHER_FAMILY = 'other'
export const familyOf = (op: string): string => findOp(op)?.family ?? OTHER_FAMILY

const filterValue = (key: FilterKey, c: BenchmarkCase): string => (key === 'family' ? familyOf(c.op) : key === 'host' ? machineOf(c) : c[key])

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

/** Thresholds of single operations, as fractions, by op id: how far each may move before it counts. */
export const opThresholdsSchema = z.record(z.string().min(1).max(80), z.number().min(0).max(1))
export type OpThresholds = z.infer<typeof opThresholdsSchema>

/** Ratios nearer to 1 than the threshold count as no difference. */
export interface Thresholds {
  /** For every op that has none of its own; 1 % where absent. */
  threshold?: number | undefined
  byOp?: OpThresholds | undefined
}

/** The threshold in force for cases of an op, as a fraction. */
export const thresholdFor = ({ threshold = THRESHOLD, byOp }: Thresholds, op: string): number => (byOp && Object.hasOwn(byOp, op) ? byOp[op]! : threshold)

/** What the sides of a comparison within one session differ in. */
export const COMPARE_AXES = ['impl', 'backend', 'dtype', 'mode', 'threads', 'device', 'host'] as const
export const compareAxisSchema = z.enum(COMPARE_AXES)
export type CompareAxis = z.infer<typeof compareAxisSchema>

/**
 * Sessions to compare by case identity, the first being the baseline; or the cases of one session that differ in one
 * axis only. `impl` compares implementations of any backend (`cpu avx2`, `cuda kernel`), `backend` preferred ones.
 * `filter` narrows either to a subset of the cases before anything is joined.
 */
export const compareRequestSchema = z.union([
  z.object({ sessionIds: z.array(z.string().min(1).max(64)).min(2).max(20), filter: caseFilterSchema.optional() }),
  z.object({ sessionId: z.string().min(1).max(64), axis: compareAxisSchema, /** Value of the axis; absent: the first met. */ baseline: z.string().max(120).optional(), filter: caseFilterSchema.optional() }),
])
export type CompareRequest = z.infer<typeof compareRequestSchema>

const verdictSchema = z.enum(['faster', 'slower', 'same', 'ambiguous'])
export type Verdict = z.infer<typeof verdictSchema>

const energyVerdictSchema = z.enum(['less', 'more', 'same', 'ambiguous'])
export type EnergyVerdict = z.infer<typeof energyVerdictSchema>

/** Energy of a call beside the baseline's: `ratio` is this / baseline, below 1 is less. */
const energyCellSchema = z.object({
  ratio: z.number().positive(),
  /** 95 % CI of the ratio. */
  low: z.number().optional(),
  high: z.number().optional(),
  verdict: energyVerdictSchema.optional(),
  p: z.number().min(0).max(1).optional(),
  adjustedP: z.number().min(0).max(1).optional(),
  doubt: z.string().optional(),
})
export type EnergyCell = z.infer<typeof energyCellSchema>

/** One session's side of a compared case. `speedup` is baseline median / this median: above 1 is faster. */
const compareCellSchema = z.object({
  resultId: z.string(),
  medianNs: z.number(),
  /** Of the result that stands for the side; absent on imported results without one. */
  grade: gradeSchema.optional(),
  speedup: z.number().optional(),
  /** 95 % bootstrap interval of the speedup. */
  speedupLow: z.number().optional(),
  speedupHigh: z.number().optional(),
  /** How well the speedup is known (ratio/rounds.ts), whatever the grades of the two times, and why. */
  speedupGrade: gradeSchema.optional(),
  speedupGradeReason: z.string().optional(),
  verdict: verdictSchema.optional(),
  /** Two-sided p of "no slower nor faster than the threshold", of this cell alone. */
  p: z.number().min(0).max(1).optional(),
  /** The same after Benjamini-Hochberg over the cells of the comparison; the verdict uses this one. */
  adjustedP: z.number().min(0).max(1).optional(),
  /** The speedup in SM cycles, where both sides are on one GPU and have clock readings. */
  cyclesSpeedup: z.number().optional(),
  cyclesLow: z.number().optional(),
  cyclesHigh: z.number().optional(),
  /** Fresh-process runs behind each side, and interleaved ABBA blocks, where there are any. */
  runs: z.number().int().positive().optional(),
  baselineRuns: z.number().int().positive().optional(),
  quads: z.number().int().positive().optional(),
  /** Why the verdict is ambiguous although the interval lies beyond the threshold: the test, the correction, or SM cycles. */
  doubt: z.string().optional(),
  /** Energy of a call, where it was measured. */
  joulesPerCall: z.number().positive().optional(),
  /** That energy beside the baseline's, where both have it. */
  energy: energyCellSchema.optional(),
})
export type CompareCell = z.infer<typeof compareCellSchema>

export const comparisonSchema = z.object({
  /** The sides. Within one session all have its id, and `value` is the side's value of the axis. */
  sessions: z.array(z.object({ id: z.string(), name: z.string(), createdAt: z.string(), value: z.string().optional(), /** It is an open file, not a stored session. */ fileName: z.string().optional() })),
  /** Significance threshold: smaller differences in time count as none. A fraction; operations may have their own. */
  threshold: z.number(),
  /** The sides are sessions that measured the common cases on devices of the same names: versions of the same thing, of which one may have regressed. */
  versions: z.boolean().optional(),
  /** Within one session: implementations measured the same work at different numbers of threads, which are not compared. */
  threadsDiffer: z.boolean().optional(),
  opThresholds: opThresholdsSchema,
  /** What the cases of all sides can be narrowed by, counted before `filter` took any away. */
  facets: facetsSchema,
  /** One row per case that the baseline and at least one other session measured; `cells[i]` belongs to `sessions[i]`. */
  rows: z.array(z.object({ caseId: z.string(), case: benchmarkCaseSchema, cells: z.array(compareCellSchema.nullable()) })),
  /** Cases of one session with no partner, and cases left out because a side is not `ok`. */
  unmatched: z.array(z.object({
    sessionId: z.string(),
    case: benchmarkCaseSchema,
    reason: z.string(),
    /** How the last result of the case ended, where it is left out for that. */
    status: statusSchema.optional(),
    /** It is the baseline's case. */
    baseline: z.boolean().optional(),
  })),
  /** Geometric mean of the speedups per session, with the number of cases; absent for the baseline. */
  overall: z.array(z.object({ speedup: z.number(), cases: z.number().int() }).nullable()),
  /** Noise floors known for the devices compared: effects below them are doubtful. */
  noiseFloors: z.array(noiseFloorSchema),
  /** Between hosts or devices: how much the cards of one model differ, for each case that two or more have measured. */
  cards: z.array(cardSpreadSchema).optional(),
  /** Differences between the environments, one sentence each. */
  environmentDifferences: z.array(z.string()),
})
export type Comparison = z.infer<typeof comparisonSchema>

/** A file that is compared without being imported; `id` stands where a session's would. */
export const fileSideSchema = z.object({ id: z.string().max(64), name: z.string(), fileName: z.string(), createdAt: z.string(), results: z.number().int().nonnegative() })
export type FileSide = z.infer<typeof fileSideSchema>

/** Default significance threshold: smaller differences are rarely reproducible. A fraction. */
export const THRESHOLD = 0.01
