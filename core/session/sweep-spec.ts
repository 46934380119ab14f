import { z } from 'zod'
import { dtypeSchema, modeSchema } from '../case'
import { measureSettingsSchema, presetIdSchema } from '../measure/settings'

/** Sizes by form (core/ops/forms) as the user wrote them (`2^16..2^26 x4`, `1024x1024, 4096x{1024,4096}`, `n=32 c=64 hw=56 k=64 r=3`). */
const sizeTextsSchema = z.record(z.string().max(40), z.string().max(4000))
export type SizeTexts = Readonly<Record<string, string>>

/** One backend's part of a sweep: which device and implementations, and thread counts where there is a choice. */
const targetSchema = z.object({
  backend: z.string(),
  device: z.string(),
  impls: z.array(z.string()).min(1).max(20),
  threads: z.array(z.number().int().positive()).max(20).optional(),
})
export type Target = z.infer<typeof targetSchema>

const attributeValues = z.array(z.union([z.string().max(40), z.number(), z.boolean()])).max(100)

/** An operation with the values to measure of each attribute that is named. Files from before attributes call them variants. */
const pickedOpSchema = z.preprocess(
  (entry) => (typeof entry === 'object' && entry !== null && 'variants' in entry && !('attributes' in entry) ? { ...entry, attributes: entry.variants } : entry),
  z.object({
    op: z.string(),
    attributes: z.record(z.string().max(40), attributeValues).optional(),
    /** Sizes of this operation alone, in place of those of its form. */
    sizes: z.string().max(4000).optional(),
    /** Dtypes of this operation alone, in place of those of the sweep. */
    dtypes: z.array(dtypeSchema).min(1).max(20).optional(),
  }),
)
export type PickedOp = z.infer<typeof pickedOpSchema>

const extents = z.array(z.number().int().positive()).max(100)

/** The values of each axis that the sizes of a suite are products of. */
const suiteGridSchema = z.object({ batch: extents, sequence: extents, dimension: extents })
export type SuiteGrid = Readonly<Record<keyof z.infer<typeof suiteGridSchema>, readonly number[]>>

/** Everything a user picks before pressing Run. planSweep turns it into cases. */
export const sweepSpecSchema = z.object({
  ops: z.array(pickedOpSchema).max(200),
  sizes: sizeTextsSchema,
  dtypes: z.array(dtypeSchema),
  targets: z.array(targetSchema).max(64),
  modes: z.array(modeSchema),
  preset: presetIdSchema,
  /** Overrides of the preset for this sweep alone. */
  measure: measureSettingsSchema.partial().optional(),
  /** Times the whole sweep is measured, each in fresh processes: the unit of a comparison across runs is the run. Absent: once. */
  repeats: z.number().int().min(1).max(50).optional(),
  /** Parts of composite operations that are measured beside them: those of the forward pass, or of the backward pass as well. */
  parts: z.enum(['forward', 'both']).optional(),
  /** The suite (core/suites) that the sweep is of: its session has that suite's report. */
  suite: z.string().max(40).optional(),
  /** Of such a suite over batch, sequence and dimension: the values that are measured. */
  grid: suiteGridSchema.optional(),
})
export type SweepSpec = z.infer<typeof sweepSpecSchema>
