import { z } from 'zod'
import type { Result } from '../../result'
import type { KnownCeiling } from '../../roofline/ceilings'
import type { Row } from '../../session/rows'
import type { Environment } from '../../session/types'

/** problem: the figure cannot be used. warning: the figure needs care, or the possible gain is large. info: everything else. */
export const SEVERITIES = ['problem', 'warning', 'info'] as const
const severitySchema = z.enum(SEVERITIES)
export type Severity = z.infer<typeof severitySchema>

/** A conclusion about results of a session, with its evidence. One finding covers all rows that have the same cause. */
export const findingSchema = z.object({
  /** Id of its rule. */
  rule: z.string().max(60),
  severity: severitySchema,
  /** What it is about, where the title of the rule says too little; absent: the title of the rule. */
  title: z.string().max(200).optional(),
  /** Ids of the results it is about, the one the sentence names first. */
  rows: z.array(z.string().max(64)).min(1),
  /** One or two sentences with the numbers in them. */
  sentence: z.string().max(1000),
  /** The figures behind it, each a name and a value with its unit. Never empty. */
  evidence: z.array(z.object({ name: z.string().max(200), value: z.string().max(400) })).min(1),
  /** The possible gain. `factor`: the largest possible speedup of the case in the sentence; `savedNs`: saved time over one call of each row. */
  gain: z.object({ factor: z.number().min(1), how: z.string().max(400), savedNs: z.number().nonnegative() }).optional(),
})
export type Finding = z.infer<typeof findingSchema>

/** Facts of a result that its row does not carry. */
export interface ResultDetails extends Pick<Result, 'converged' | 'stopReason' | 'timer' | 'labels'> {
  /** Samples, the labelled ones included. */
  taken: number
}

/** What rules look at. */
export interface AdviceInput {
  rows: readonly Row[]
  /** Of the very devices that measured the rows. */
  ceilings: readonly KnownCeiling[]
  /** By result id; rules that need them are silent about results that have none. */
  details?: ReadonlyMap<string, ResultDetails>
  /** Of the machine of the session: its devices, caches and noise floors. */
  environment?: Pick<Environment, 'devices' | 'caches' | 'noiseFloors'>
}

/** One rule; a file core/analysis/advice/rules/<id>.ts that exports it as default. Pure: the same input gives the same findings. */
export interface AdviceRule {
  id: string
  /** Two or three words for the list. */
  title: string
  find(input: AdviceInput): Finding[]
}
