import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron'
import type { FromHost } from '@core/measure/protocol'

/** The one channel of the measurement window; main/backends/webgpu/window.ts has the other end. */
const CHANNEL = 'webgpu-host'

/** A port to the runner and nothing else. The runner checks every message that arrives there. */
contextBridge.exposeInMainWorld('opscopeHost', {
  send: (message: FromHost) => ipcRenderer.send(CHANNEL, message),
  onMessage(listener: (message: unknown) => void) {
    ipcRenderer.removeAllListeners(CHANNEL)
    ipcRenderer.on(CHANNEL, (_event: IpcRendererEvent, message: unknown) => listener(message))
  },
})
