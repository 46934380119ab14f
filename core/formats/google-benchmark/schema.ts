import { z } from 'zod'

/**
 * Google Benchmark's JSON reporter, as https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats and
 * its tools/compare read it (versions 1.5 to 1.9). Numbers may be bare NaN and Infinity; user counters stand beside the
 * fields named here. Unknown fields are left alone.
 */
const time = z.number().nonnegative()

const runSchema = z.object({
  name: z.string().min(1).max(10_000),
  /** Absent before 1.5: then `name` is the run's name. */
  run_name: z.string().min(1).max(10_000).optional(),
  run_type: z.enum(['iteration', 'aggregate']).optional(),
  repetitions: z.number().int().nonnegative().optional(),
  threads: z.number().int().min(1).max(4096).optional(),
  aggregate_name: z.string().optional(),
  /** `percentage` of a coefficient of variation. */
  aggregate_unit: z.string().optional(),
  iterations: z.number().int().nonnegative().optional(),
  /** In `time_unit`; absent in fits of complexity. */
  real_time: time.optional(),
  cpu_time: time.optional(),
  time_unit: z.enum(['ns', 'us', 'ms', 's']).optional(),
  bytes_per_second: z.number().nullable().optional(),
  error_occurred: z.boolean().optional(),
  error_message: z.string().optional(),
  skipped: z.boolean().optional(),
  skip_message: z.string().optional(),
  label: z.string().optional(),
})
export type GoogleRun = z.output<typeof runSchema>

export const fileSchema = z.object({
  context: z.object({
    date: z.string().optional(),
    host_name: z.string().optional(),
    executable: z.string().optional(),
    num_cpus: z.number().int().nonnegative().max(1_000_000).optional(),
    mhz_per_cpu: z.number().nonnegative().optional(),
    cpu_scaling_enabled: z.boolean().optional(),
    caches: z.array(z.object({ type: z.string(), level: z.number().int(), size: z.number().nonnegative(), num_sharing: z.number().int().nonnegative() })).optional(),
    library_build_type: z.string().optional(),
    library_version: z.string().optional(),
  }),
  benchmarks: z.array(runSchema).min(1),
})
export type GoogleFile = z.output<typeof fileSchema>

export const NS_PER_UNIT = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 } as const
