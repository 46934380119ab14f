import { z } from 'zod'

/**
 * nvbench's `--json` output (https://github.com/NVIDIA/nvbench, nvbench/json_printer.cu, JSON versions 1.x): numbers of axes
 * and summaries are texts, times are seconds, rates are per second. Unknown fields are left alone.
 */
const namedValue = z.object({ name: z.string(), type: z.string(), value: z.union([z.string(), z.number()]) })

const summarySchema = z.object({ tag: z.string(), data: z.array(namedValue).nullable().optional() })

const stateSchema = z.object({
  name: z.string().optional(),
  /** Id of the device; absent or null for benchmarks of the host alone. */
  device: z.number().int().nonnegative().nullable().optional(),
  axis_values: z.array(namedValue).nullable().optional(),
  summaries: z.array(summarySchema).nullable().optional(),
  is_skipped: z.boolean(),
  skip_reason: z.string().optional(),
})
export type NvbenchState = z.output<typeof stateSchema>

const deviceSchema = z.object({
  id: z.number().int().nonnegative(),
  name: z.string().max(400),
  sm_version: z.number().optional(),
  number_of_sms: z.number().optional(),
  sm_default_clock_rate: z.number().optional(),
  global_memory_size: z.number().nonnegative().optional(),
  global_memory_bus_bandwidth: z.number().optional(),
  l2_cache_size: z.number().optional(),
  ecc_state: z.boolean().optional(),
})
export type NvbenchDevice = z.output<typeof deviceSchema>

export const fileSchema = z.object({
  devices: z.array(deviceSchema).nullable(),
  benchmarks: z.array(z.object({ name: z.string().min(1).max(10_000), states: z.array(stateSchema).nullable() })).min(1),
})
