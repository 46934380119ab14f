import { deviceStateSchema } from '@core/backend'
import type { NativeGpuWatch } from '../../native/addon'
import { questionSchema, type Answer } from './protocol'

/** The first look comes after the page has handed its work to the device, which idles between batches. */
const FIRST_MS = 2
/** The device is looked at this often at most, as for CUDA: a look takes the driver tens of microseconds. */
const EVERY_MS = 20

/** Answers the page about this card. A message that does not parse is passed over: nothing here may cost a measurement. */
export function serveWatch(watch: NativeGpuWatch, send: (answer: Answer) => void): (message: unknown) => void {
  let next: NodeJS.Timeout | undefined

  const look = () => {
    next = setTimeout(look, EVERY_MS)
    attempt(() => watch.read())
  }
  return (raw) => {
    const parsed = questionSchema.safeParse(raw)
    if (!parsed.success) return
    const message = parsed.data
    clearTimeout(next)
    if (message.type === 'begin') {
      attempt(() => watch.begin(message.long))
      next = setTimeout(look, FIRST_MS)
    } else {
      send({ id: message.id, state: attempt(() => deviceStateSchema.parse(watch.end())) ?? {} })
    }
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
