import { z } from 'zod'
import { benchmarkCaseSchema } from '../case'

/** Sessions to compare by case identity; the first is the baseline. */
export const compareRequestSchema = z.object({ sessionIds: z.array(z.string().min(1).max(64)).min(2).max(20) })
export type CompareRequest = z.infer<typeof compareRequestSchema>

export const verdictSchema = z.enum(['faster', 'slower', 'same', 'ambiguous'])
export type Verdict = z.infer<typeof verdictSchema>

/** One session's side of a compared case. `ratio` is this median / baseline median: below 1 is faster. */
export const compareCellSchema = z.object({
  resultId: z.string(),
  medianNs: z.number(),
  ratio: z.number().optional(),
  /** 95 % bootstrap interval of the ratio. */
  ratioLow: z.number().optional(),
  ratioHigh: z.number().optional(),
  verdict: verdictSchema.optional(),
})
export type CompareCell = z.infer<typeof compareCellSchema>

export const comparisonSchema = z.object({
  sessions: z.array(z.object({ id: z.string(), name: z.string(), createdAt: z.string() })),
  /** One row per case that the baseline and at least one other session measured; `cells[i]` belongs to `sessions[i]`. */
  rows: z.array(z.object({ caseId: z.string(), case: benchmarkCaseSchema, cells: z.array(compareCellSchema.nullable()) })),
  /** Cases of one session with no partner, and cases left out because a side is not `ok`. */
  unmatched: z.array(z.object({ sessionId: z.string(), case: benchmarkCaseSchema, reason: z.string() })),
  /** Geometric mean of the ratios per session, with the number of cases behind it; absent for the baseline. */
  overall: z.array(z.object({ ratio: z.number(), cases: z.number().int() }).nullable()),
  /** Differences between the environments, one sentence each. */
  environmentDifferences: z.array(z.string()),
})
export type Comparison = z.infer<typeof comparisonSchema>
