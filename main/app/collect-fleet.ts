import { gather, unfinished } from '../fleet/gather'
import { LIMITS, openLine, readFleet } from '../fleet/connect'
import { Coalescer } from '../runner/events'
import type { Services } from './services'

/** How often the page is told of results that came. */
const TELL_MS = 1000

/** Takes the results that wait for sessions of a fleet; connects to nothing where there is no such session. Ends with the signal. */
export async function collectFleet({ history, emit }: Pick<Services, 'history' | 'emit'>, folder: string, signal: AbortSignal): Promise<void> {
  const open = unfinished(history)
  if (open.length === 0) return
  try {
    const settings = readFleet(folder)
    if (!settings) return
    const line = await openLine(settings, 'opscope window')
    const changed = new Set<string>()
    const tell = new Coalescer(TELL_MS, () => {
      if (changed.size > 0) emit('sessions:changed', { ids: [...changed] })
      changed.clear()
    })
    try {
      await gather({
        history, folder, line, limits: LIMITS, sessions: open.map(({ id }) => id), signal,
        stored: (id) => {
          changed.add(id)
          tell.request()
        },
        finished: (id) => {
          emit('sessions:changed', { ids: [id] })
          emit('notice', { level: 'info', message: `The fleet has measured all of “${history.summary(id).name}”.` })
        },
      })
    } finally {
      await line.close()
    }
  } catch (error) {
    if (!signal.aborted) emit('notice', { level: 'warning', message: `Results of the fleet could not be collected: ${error instanceof Error ? error.message : String(error)}` })
  }
}
