import { ipcMain, type BrowserWindow, type IpcMainInvokeEvent } from 'electron'
import { REQUESTS, type Channel, type EventName, type EventPayload } from '@core/ipc'
import { isPage } from '../app/pages'
import { answer, type Handlers } from './answer'

/** The visible window, if there is one now. */
export type CurrentWindow = () => BrowserWindow | undefined

/** Whether a request comes from the top frame of the visible window while it shows the app's page. */
function isTrusted(event: IpcMainInvokeEvent, window: BrowserWindow | undefined): boolean {
  const frame = event.senderFrame
  if (!window || window.isDestroyed() || !frame || event.sender !== window.webContents) return false
  return frame === window.webContents.mainFrame && isPage(frame.url, 'index.html')
}

/** Registers every request of the contract; there is no other way in. */
export function registerRequests(handlers: Handlers, window: CurrentWindow): void {
  for (const channel of Object.keys(REQUESTS) as Channel[]) {
    ipcMain.handle(channel, (event, payload: unknown) => answer(handlers, channel, payload, isTrusted(event, window())))
  }
}

/** Sends an event to the page; without a window it goes nowhere, because a new page asks for the state itself. */
export type Emit = <E extends EventName>(event: E, payload: EventPayload<E>) => void

export const createEmit = (window: CurrentWindow): Emit => (event, payload) => {
  const contents = window()?.webContents
  if (contents && !contents.isDestroyed() && !contents.isCrashed()) contents.send(event, payload)
}
