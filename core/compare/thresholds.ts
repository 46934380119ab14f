import { z } from 'zod'
import { THRESHOLD } from './verdict'

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
