import { z } from 'zod'
import { REQUESTS, type Channel, type IpcReply, type Reply, type IpcError } from '@core/ipc'
import { InUseError, NotFoundError } from '../history/types'
import { BusyError } from '../runner/types'

/** The window that asks, by the id of its page. */
export type Asker = number

/** One function per request; it gets the parsed payload. */
export type Handlers = { [C in Channel]: (request: z.output<(typeof REQUESTS)[C]['request']>, asker: Asker) => Reply<C> | Promise<Reply<C>> }

/**
 * Answers one request: the sender first, then the payload, and only then the handler. Never rejects.
 * @param trusted whether the sender is the app's own page in one of its windows
 */
export async function answer<C extends Channel>(handlers: Handlers, channel: C, payload: unknown, trusted: boolean, asker: Asker = 0): Promise<IpcReply<C>> {
  if (!trusted) return { ok: false, error: { code: 'refused', message: 'Only the window of Opscope may ask this.' } }
  try {
    const request = REQUESTS[channel].request.parse(payload) as Parameters<Handlers[C]>[0]
    return { ok: true, value: await (handlers[channel] as (request: Parameters<Handlers[C]>[0], asker: Asker) => Reply<C> | Promise<Reply<C>>)(request, asker) }
  } catch (error) {
    return { ok: false, error: toIpcError(error) }
  }
}

/** A request that cannot be carried out, in words for the user; `detail` is shown behind a click. */
export class RequestError extends Error {
  override name = 'RequestError'
  constructor(
    readonly code: IpcError['code'],
    message: string,
    readonly detail?: string,
  ) {
    super(message)
  }
}

const LONGEST = 2000

/** What the page is told about an error. Stacks stay in main. */
function toIpcError(error: unknown): IpcError {
  if (error instanceof z.ZodError) return { code: 'bad-request', message: 'The request was not understood.', detail: z.prettifyError(error).slice(0, LONGEST) }
  const message = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST) || 'Something failed without saying why.'
  if (error instanceof RequestError) return { code: error.code, message, ...(error.detail === undefined ? {} : { detail: error.detail }) }
  if (error instanceof NotFoundError) return { code: 'not-found', message }
  if (error instanceof BusyError || error instanceof InUseError) return { code: 'busy', message }
  const cause = error instanceof Error && error.cause !== undefined ? String(error.cause instanceof Error ? error.cause.message : error.cause).slice(0, LONGEST) : undefined
  return { code: 'failed', message, ...(cause === undefined ? {} : { detail: cause }) }
}
