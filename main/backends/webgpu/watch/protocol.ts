import { z } from 'zod'
import { deviceStateSchema } from '@core/backend'

/** What main and the process that watches a GPU (program.ts) say to each other. */
export const toWatchSchema = z.discriminatedUnion('type', [
  /** First, and once: the card by its name, and the process that computes on it (0: not known). */
  z.object({ type: z.literal('open'), name: z.string().min(1).max(200), worker: z.number().int().nonnegative() }),
  /** A batch of samples begins. `long`: long enough for the energy counter, which takes milliseconds to read. */
  z.object({ type: z.literal('begin'), long: z.boolean() }),
  /** It ended. */
  z.object({ type: z.literal('end'), id: z.number().int() }),
])
export type ToWatch = z.infer<typeof toWatchSchema>

export const fromWatchSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('opened'), ok: z.boolean() }),
  z.object({ type: z.literal('state'), id: z.number().int(), state: deviceStateSchema }),
])
export type FromWatch = z.infer<typeof fromWatchSchema>
