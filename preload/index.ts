import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron'
import type { OpscopeApi } from '@core/ipc'
import { CHANNELS, EVENT_NAMES } from '@core/ipc/names'

/** Only names of the contract pass, so the page cannot reach Electron's own channels. Payloads are checked in main. */
const api: OpscopeApi = {
  invoke(channel, request) {
    if (!CHANNELS.has(channel)) return Promise.resolve({ ok: false, error: { code: 'refused', message: 'There is no such request.' } })
    return ipcRenderer.invoke(channel, request)
  },
  on(event, listener) {
    if (!EVENT_NAMES.has(event)) throw new Error('There is no such event.')
    const forward = (_event: IpcRendererEvent, payload: Parameters<typeof listener>[0]) => listener(payload)
    ipcRenderer.on(event, forward)
    return () => {
      ipcRenderer.off(event, forward)
    }
  },
}

contextBridge.exposeInMainWorld('opscope', api)
