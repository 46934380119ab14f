import { z } from 'zod'
import { deviceStateSchema, type EnergyMeter } from '@core/backend'
import type { NativeGpuWatch } from '../../native/addon'

/** The first look comes after the page has handed its work to the device, which idles between batches. */
const FIRST_MS = 2
/** The device is looked at this often at most, as for CUDA: a look takes the driver tens of microseconds. */
const EVERY_MS = 20

/** Answers the page about this card. A message that does not parse is passed over: nothing here may cost a measurement. `meterOf` opens the card's energy counter. */
export function serveWatch(watch: NativeGpuWatch, send: (answer: Answer) => void, meterOf: () => EnergyMeter | { reason: string }): (message: unknown) => void {
  let next: NodeJS.Timeout | undefined
  let meter: ReturnType<typeof meterOf> | undefined

  const look = () => {
    next = setTimeout(look, EVERY_MS)
    attempt(() => watch.read())
  }
  return (raw) => {
    const parsed = questionSchema.safeParse(raw)
    if (!parsed.success) return
    const message = parsed.data
    if (message.type === 'energy-start' || message.type === 'energy-stop') {
      meter ??= meterOf()
      void counted(meter, message.type).then((value) => send({ id: message.id, value }))
      return
    }
    clearTimeout(next)
    if (message.type === 'begin') {
      attempt(() => watch.begin(message.long))
      next = setTimeout(look, FIRST_MS)
    } else {
      send({ id: message.id, value: attempt(() => deviceStateSchema.parse(watch.end())) ?? {} })
    }
  }
}

/** `true` where counting has begun, what the counter said where it has ended, or why not. Numbers go as plain arrays, which every bridge carries. */
async function counted(meter: EnergyMeter | { reason: string }, type: 'energy-start' | 'energy-stop'): Promise<unknown> {
  if ('reason' in meter) return meter
  try {
    if (type === 'energy-start') return await meter.start().then(() => true)
    const { source, tickMs, joules, powerMs, watts } = await meter.stop()
    return { source, tickMs: Array.from(tickMs), joules: Array.from(joules), powerMs: Array.from(powerMs), watts: Array.from(watts) }
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** What `work` gives, undefined where it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** From main, first and once, with the page's port: the card by its name, and the process that computes on it (0: not known). */
export const openSchema = z.object({ type: z.literal('open'), name: z.string().min(1).max(200), worker: z.number().int().nonnegative() })
export type OpenRequest = z.infer<typeof openSchema>

/** The answer to main. */
export const openedSchema = z.object({ type: z.literal('opened'), ok: z.boolean() })
export type Opened = z.infer<typeof openedSchema>

/** From the page (preload/webgpu.ts), through its port. */
const questionSchema = z.discriminatedUnion('type', [
  /** A batch of samples begins. `long`: long enough for the energy counter, which takes milliseconds to read. */
  z.object({ type: z.literal('begin'), long: z.boolean() }),
  /** It ended. */
  z.object({ type: z.literal('end'), id: z.number().int() }),
  /** The card's energy is counted from now on, until `energy-stop`. */
  z.object({ type: z.literal('energy-start'), id: z.number().int() }),
  z.object({ type: z.literal('energy-stop'), id: z.number().int() }),
])

/** The answer to a question with this id: a DeviceState to `end`, see `counted` for those of energy. The page checks it. */
export interface Answer {
  id: number
  value: unknown
}
