import { z } from 'zod'
import { opThresholdsSchema } from './compare/types'
import { measureSettingsSchema, presetIdSchema } from './measure/settings'
import { columnsSchema, savedViewsSchema } from './session/saved/views'
import { recentSweepsSchema, savedSweepsSchema } from './session/saved/sweeps'
import { sweepSpecSchema } from './session/sweep-spec'

export const MAX_EXTRA_PYTHONS = 20

/** Which Pythons to measure with. */
export const pythonSettingsSchema = z.object({
  /** Programs or folders of virtual environments to look at beside those found. */
  extra: z.array(z.string().max(1000)).max(MAX_EXTRA_PYTHONS),
  /** Programs to offer as devices, the first as `python:cpu`; absent: the best one found. */
  chosen: z.array(z.string().max(1000)).max(8).optional(),
})
export type PythonSettings = z.infer<typeof pythonSettingsSchema>

/** How cases of several GPUs of one host are measured. */
export const GPU_ORDERS = ['in-turn', 'side-by-side'] as const
export type GpuOrder = (typeof GPU_ORDERS)[number]
/** Alone, until it is measured what GPUs that work at the same time do to each other's medians. */
export const DEFAULT_GPU_ORDER: GpuOrder = 'in-turn'

/** What comes back at the next start. Parsed with defaults: a damaged file loses only the damaged keys. */
export const settingsSchema = z.object({
  theme: z.enum(['system', 'light', 'dark']),
  /** Height of the rows of tables; absent: comfortable. */
  density: z.enum(['comfortable', 'compact']).optional(),
  /** The last picks of the run view. */
  sweep: sweepSpecSchema.optional(),
  /** Sweeps under names, and those run last. */
  savedSweeps: savedSweepsSchema.optional(),
  recentSweeps: recentSweepsSchema.optional(),
  /** States of charts and tables under names. */
  savedViews: savedViewsSchema.optional(),
  /** Table columns to show, in order, with widths in px, by table name. */
  columns: z.record(z.string().max(40), columnsSchema),
  /** Share of the height that the charts have above the table. */
  chartShare: z.number().min(0.15).max(0.85).optional(),
  /** The same of the plot in Compare. */
  compareShare: z.number().min(0.15).max(0.85).optional(),
  lastView: z.string().max(200).optional(),
  /** Presets the user has changed; the others are those of core/measure/settings.ts. */
  presets: z.partialRecord(presetIdSchema, measureSettingsSchema).optional(),
  /** Ratio of medians below which a difference is of no interest, as a fraction; absent: 1 %. */
  compareThreshold: z.number().min(0).max(1).optional(),
  /** Thresholds of single operations, by op. */
  compareOpThresholds: opThresholdsSchema.optional(),
  python: pythonSettingsSchema.optional(),
  /** Whether cases of several GPUs are measured at once, with a process for each; absent: in turn (DEFAULT_GPU_ORDER). */
  gpus: z.enum(GPU_ORDERS).optional(),
})
export type Settings = z.infer<typeof settingsSchema>

export const DEFAULT_SETTINGS: Settings = { theme: 'system', columns: {} }
