import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron'
import type { FromHost } from '@core/measure/protocol'

/** The one channel of the measurement window; main/backends/webgpu/window.ts has the other end. */
const CHANNEL = 'webgpu-host'

/** For the card behind the adapter; main/backends/webgpu/watch has the other end. */
const WATCH = { open: 'webgpu-watch:open', begin: 'webgpu-watch:begin', end: 'webgpu-watch:end' } as const

/** A port to the runner, a look at the state of the card, and nothing else. Main checks every message that arrives there, the page every answer. */
contextBridge.exposeInMainWorld('opscopeHost', {
  send: (message: FromHost) => ipcRenderer.send(CHANNEL, message),
  onMessage(listener: (message: unknown) => void) {
    ipcRenderer.removeAllListeners(CHANNEL)
    ipcRenderer.on(CHANNEL, (_event: IpcRendererEvent, message: unknown) => listener(message))
  },
  watch: {
    open: (name: string): Promise<unknown> => ipcRenderer.invoke(WATCH.open, name),
    begin: (long: boolean) => ipcRenderer.send(WATCH.begin, long),
    end: (): Promise<unknown> => ipcRenderer.invoke(WATCH.end),
  },
})
