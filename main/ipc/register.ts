import { ipcMain, type BrowserWindow, type IpcMainInvokeEvent } from 'electron'
import { REQUESTS, type Channel, type EventName, type EventPayload } from '@core/ipc'
import { isPage } from '../app/pages'
import { answer, type Asker, type Handlers } from './answer'

/** The visible windows, as far as requests and events need them. */
export interface VisibleWindows {
  all(): readonly BrowserWindow[]
  /** The one that has the focus or had it last. */
  current(): BrowserWindow | undefined
}

/** Whether a request comes from the top frame of a visible window while it shows the app's page. */
function isTrusted(event: IpcMainInvokeEvent, windows: readonly BrowserWindow[]): boolean {
  const frame = event.senderFrame
  const window = windows.find((one) => !one.isDestroyed() && one.webContents === event.sender)
  if (!window || !frame) return false
  return frame === window.webContents.mainFrame && isPage(frame.url, 'index.html')
}

/** Registers every request of the contract; there is no other way in. */
export function registerRequests(handlers: Handlers, windows: Pick<VisibleWindows, 'all'>): void {
  for (const channel of Object.keys(REQUESTS) as Channel[]) {
    ipcMain.handle(channel, (event, payload: unknown) => answer(handlers, channel, payload, isTrusted(event, windows.all()), event.sender.id))
  }
}

/** Events that are about what the user does now: only the window in front gets them. */
const IN_FRONT: ReadonlySet<EventName> = new Set<EventName>(['menu:command', 'notice', 'sessions:opened', 'link:opened', 'fault:reported', 'baselines:checked'])

/** Which windows get an event. */
export interface EmitOptions {
  /** Only this one. */
  to?: Asker
  /** All but this one. */
  except?: Asker
}

/** Sends an event to the pages; without a window it goes nowhere, because a new page asks for the state itself. */
export type Emit = <E extends EventName>(event: E, payload: EventPayload<E>, options?: EmitOptions) => void

export const createEmit = (windows: () => VisibleWindows | undefined): Emit => (event, payload, { to, except } = {}) => {
  const front = windows()?.current()
  const receivers = IN_FRONT.has(event) ? (front ? [front] : []) : (windows()?.all() ?? [])
  for (const { webContents: contents } of receivers) {
    const meant = (to === undefined || contents.id === to) && (except === undefined || contents.id !== except)
    if (meant && !contents.isDestroyed() && !contents.isCrashed()) contents.send(event, payload)
  }
}
