import type { z } from 'zod'
import { REQUESTS, type Channel, type IpcReply, type Reply } from '@core/ipc'
import { toIpcError } from './errors'

/** One function per request; it gets the parsed payload. */
export type Handlers = { [C in Channel]: (request: z.output<(typeof REQUESTS)[C]['request']>) => Reply<C> | Promise<Reply<C>> }

/**
 * Answers one request: the sender first, then the payload, and only then the handler. Never rejects.
 * @param trusted whether the sender is the app's own page in its window
 */
export async function answer<C extends Channel>(handlers: Handlers, channel: C, payload: unknown, trusted: boolean): Promise<IpcReply<C>> {
  if (!trusted) return { ok: false, error: { code: 'refused', message: 'Only the window of Opscope may ask this.' } }
  try {
    const request = REQUESTS[channel].request.parse(payload) as Parameters<Handlers[C]>[0]
    return { ok: true, value: await (handlers[channel] as (request: Parameters<Handlers[C]>[0]) => Reply<C> | Promise<Reply<C>>)(request) }
  } catch (error) {
    return { ok: false, error: toIpcError(error) }
  }
}
