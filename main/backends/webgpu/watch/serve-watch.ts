import { deviceStateSchema, type DeviceState } from '@core/backend'
import type { NativeGpuWatch } from '../../native/addon'
import { toWatchSchema, type FromWatch } from './protocol'

/** The first look comes after the page has handed its work to the device, which idles between batches. */
const FIRST_MS = 2
/** The device is looked at this often at most, as for CUDA: a look takes the driver tens of microseconds. */
const EVERY_MS = 20

/** Opens the card of a name that `worker` computes on. Throws where it cannot be watched. */
export type OpenWatch = (name: string, worker: number) => NativeGpuWatch

/** Answers the protocol of the watch. A message that does not parse is passed over: nothing here may cost a measurement. */
export function serveWatch(open: OpenWatch, send: (message: FromWatch) => void): (message: unknown) => void {
  let watch: NativeGpuWatch | undefined
  let next: NodeJS.Timeout | undefined

  const look = () => {
    next = setTimeout(look, EVERY_MS)
    attempt(() => watch?.read())
  }
  return (raw) => {
    const parsed = toWatchSchema.safeParse(raw)
    if (!parsed.success) return
    const message = parsed.data
    clearTimeout(next)
    if (message.type === 'open') {
      watch = attempt(() => open(message.name, message.worker))
      send({ type: 'opened', ok: watch !== undefined })
    } else if (message.type === 'begin') {
      attempt(() => watch?.begin(message.long))
      next = setTimeout(look, FIRST_MS)
    } else {
      send({ type: 'state', id: message.id, state: attempt(() => stateOf(watch)) ?? {} })
    }
  }
}

const stateOf = (watch: NativeGpuWatch | undefined): DeviceState => deviceStateSchema.parse(watch?.end() ?? {})

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
