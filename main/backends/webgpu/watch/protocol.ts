import { z } from 'zod'
import type { DeviceState } from '@core/backend'

/** From main, first and once, with the page's port: the card by its name, and the process that computes on it (0: not known). */
export const openSchema = z.object({ type: z.literal('open'), name: z.string().min(1).max(200), worker: z.number().int().nonnegative() })
export type OpenRequest = z.infer<typeof openSchema>

/** The answer to main. */
export const openedSchema = z.object({ type: z.literal('opened'), ok: z.boolean() })
export type Opened = z.infer<typeof openedSchema>

/** From the page (preload/webgpu.ts), through its port. */
export const questionSchema = z.discriminatedUnion('type', [
  /** A batch of samples begins. `long`: long enough for the energy counter, which takes milliseconds to read. */
  z.object({ type: z.literal('begin'), long: z.boolean() }),
  /** It ended. */
  z.object({ type: z.literal('end'), id: z.number().int() }),
])

/** The answer to `end`. The page checks it. */
export interface Answer {
  id: number
  state: DeviceState
}
