import type { Channel, EventName, EventPayload, IpcError, OpscopeApi, Reply, Request } from '@core/ipc'

/** A request that main refused or could not do. `message` is for the user; `detail` is shown behind a click. */
export class ApiError extends Error {
  readonly code: IpcError['code']
  readonly detail: string | undefined

  constructor(error: IpcError) {
    super(error.message)
    this.name = 'ApiError'
    this.code = error.code
    this.detail = error.detail
  }
}

function api(): OpscopeApi {
  if (!window.opscope) throw new ApiError({ code: 'failed', message: 'This page was opened outside Opscope, so it cannot measure or read sessions. Start the app instead.' })
  return window.opscope
}

/** Sends a request to main. Throws ApiError. */
export async function call<C extends Channel>(channel: C, request: Request<C>): Promise<Reply<C>> {
  const reply = await api().invoke(channel, request)
  if (!reply.ok) throw new ApiError(reply.error)
  return reply.value
}

/** Listens to an event of main; the returned function ends it. */
export const listen = <E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): (() => void) => api().on(event, listener)
