import { z } from 'zod'

/** When a case has been sampled enough (core/measure/sampling/stopping.ts). `maxSeconds` holds for every rule. */
const stoppingRuleSchema = z.discriminatedUnion('id', [
  /** Until the interval of the median is within ± relativeCi, after minSamples and minSeconds. */
  z.object({ id: z.literal('relative-ci') }),
  z.object({ id: z.literal('fixed-count'), count: z.number().int().min(1).max(1_000_000) }),
  z.object({ id: z.literal('fixed-time'), seconds: z.number().positive().max(3600) }),
])
export type StoppingRule = z.infer<typeof stoppingRuleSchema>

/** How one case is measured. Seconds and fractions; see the presets for the field's usual values. */
export const measureSettingsSchema = z.object({
  /** Absent: relative-ci. */
  rule: stoppingRuleSchema.optional(),
  /** Stop when the 95 % CI of the median is within ± this fraction of it. */
  relativeCi: z.number().positive().max(1),
  minSamples: z.number().int().min(2),
  /** Time of sampling that a case needs at least, in seconds: the sum of the sample durations or the wall time with flushes and launches, whichever is more. */
  minSeconds: z.number().nonnegative(),
  /** Wall time of sampling after which a case ends as not converged, in seconds. */
  maxSeconds: z.number().positive(),
  /** Warm-up ends when two windows agree within 1 %, or after this many seconds. */
  maxWarmupSeconds: z.number().nonnegative(),
  /**
   * Work units, about one ns each, that one check of a case's outputs may take on each thread. An output that needs more
   * is checked by projections, or by a sample (core/measure/verify).
   */
  verifyWork: z.number().positive(),
  seed: z.number().int().min(0).max(0xffffffff),
  /** Measures the energy of a call after its time: about 13 s more for a case, and 5 s once for a device. Absent: no. */
  energy: z.boolean().optional(),
  /** Measures the implementations of a case on a processor in interleaved rounds, so that noise affects them alike. Absent: a sweep decides (core/session/noisy-host.ts); else one by one. */
  rounds: z.boolean().optional(),
})
export type MeasureSettings = z.infer<typeof measureSettingsSchema>

export const PRESET_IDS = ['quick', 'standard', 'thorough'] as const
export const presetIdSchema = z.enum(PRESET_IDS)
export type PresetId = z.infer<typeof presetIdSchema>

const seed = 20260101

/** quick: ±2 %, 0.1 s to 1 s. standard: ±0.5 %, 16 samples and 50 ms to 15 s. thorough: ±0.2 %, 0.5 s to 60 s. */
export const PRESETS: Readonly<Record<PresetId, MeasureSettings>> = {
  quick: { relativeCi: 0.02, minSamples: 10, minSeconds: 0.1, maxSeconds: 1, maxWarmupSeconds: 0.1, verifyWork: 5e7, seed },
  standard: { relativeCi: 0.005, minSamples: 16, minSeconds: 0.05, maxSeconds: 15, maxWarmupSeconds: 2, verifyWork: 5e8, seed },
  thorough: { relativeCi: 0.002, minSamples: 64, minSeconds: 0.5, maxSeconds: 60, maxWarmupSeconds: 2, verifyWork: 4e9, seed },
}

/**
 * The settings of a preset: as the user changed it (`Settings.presets`), else as it is here, with the overrides of one
 * sweep (`SweepSpec.measure`) on top. Overrides that are undefined count as absent.
 */
export function presetSettings(id: PresetId, changed: Partial<Record<PresetId, MeasureSettings | undefined>> = {}, overrides: { [K in keyof MeasureSettings]?: MeasureSettings[K] | undefined } = {}): MeasureSettings {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  return { ...(changed[id] ?? PRESETS[id]), ...given }
}
