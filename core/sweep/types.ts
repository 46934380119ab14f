import { z } from 'zod'
import { dtypeSchema, modeSchema } from '../case'
import { measureSettingsSchema, presetIdSchema } from '../measure/settings'

/** Sizes by kind as the user wrote them (`2^16..2^26 x4`, `1024x1024, 4096x{1024,4096}`); parsed by core/sweep/sizes.ts. */
const sizeTextsSchema = z.object({ vector: z.string().max(2000), matrix: z.string().max(2000), gemm: z.string().max(2000) })
export type SizeTexts = z.infer<typeof sizeTextsSchema>

/** One backend's part of a sweep: which device and implementations, and thread counts where there is a choice. */
const targetSchema = z.object({
  backend: z.string(),
  device: z.string(),
  impls: z.array(z.string()).min(1).max(20),
  threads: z.array(z.number().int().positive()).max(20).optional(),
})
export type Target = z.infer<typeof targetSchema>

/** Everything a user picks before pressing Run. planSweep turns it into cases. */
export const sweepSpecSchema = z.object({
  ops: z.array(z.object({ op: z.string(), variants: z.record(z.string(), z.array(z.string())).optional() })).max(200),
  sizes: sizeTextsSchema,
  dtypes: z.array(dtypeSchema),
  targets: z.array(targetSchema).max(64),
  modes: z.array(modeSchema),
  preset: presetIdSchema,
  /** Overrides of the preset for this sweep alone. */
  measure: measureSettingsSchema.partial().optional(),
  /** Times the whole sweep is measured, each in fresh processes: the unit of a comparison across runs is the run. Absent: once. */
  repeats: z.number().int().min(1).max(50).optional(),
})
export type SweepSpec = z.infer<typeof sweepSpecSchema>
