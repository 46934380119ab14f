import { z } from 'zod'
import { benchmarkCaseSchema } from '../case'
import { gradeSchema, statusSchema } from '../result'
import { noiseFloorSchema } from '../session/types'
import { caseFilterSchema, facetsSchema } from './subset'
import { opThresholdsSchema } from './thresholds'

/** What the sides of a comparison within one session differ in. */
export const COMPARE_AXES = ['impl', 'backend', 'dtype', 'mode', 'threads'] as const
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
})
export type CompareCell = z.infer<typeof compareCellSchema>

export const comparisonSchema = z.object({
  /** The sides. Within one session all have its id, and `value` is the side's value of the axis. */
  sessions: z.array(z.object({ id: z.string(), name: z.string(), createdAt: z.string(), value: z.string().optional(), /** It is an open file, not a stored session. */ fileName: z.string().optional() })),
  /** Significance threshold: smaller differences in time count as none. A fraction; operations may have their own. */
  threshold: z.number(),
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
  /** Differences between the environments, one sentence each. */
  environmentDifferences: z.array(z.string()),
})
export type Comparison = z.infer<typeof comparisonSchema>

/** A file that is compared without being imported; `id` stands where a session's would. */
export const fileSideSchema = z.object({ id: z.string().max(64), name: z.string(), fileName: z.string(), createdAt: z.string(), results: z.number().int().nonnegative() })
export type FileSide = z.infer<typeof fileSideSchema>
