import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron'
import type { FromHost } from '@core/measure/protocol'

/** The one channel of the measurement window; main/backends/webgpu/window.ts has the other end. */
const CHANNEL = 'webgpu-host'
/** For the card behind the adapter; main/backends/webgpu/watch has the other end. */
const WATCH = { open: 'webgpu-watch:open', port: 'webgpu-watch:port' } as const

/** The watch answers through a port of its own: by way of main every batch would wait for a process that is busy with the window. */
function watchLink() {
  let port: MessagePort | undefined
  let lastId = 0
  let given: () => void = () => undefined
  const waiting = new Map<unknown, (state: unknown) => void>()

  ipcRenderer.on(WATCH.port, (event: IpcRendererEvent) => {
    port?.close()
    port = event.ports[0]
    if (!port) return
    port.onmessage = ({ data }: MessageEvent<unknown>) => {
      const { id, state } = Object(data) as { id?: unknown; state?: unknown }
      waiting.get(id)?.(state)
      waiting.delete(id)
    }
    given()
  })
  return {
    async open(name: string): Promise<unknown> {
      const hasPort = new Promise<void>((resolve) => (given = resolve))
      const answer: unknown = await ipcRenderer.invoke(WATCH.open, name)
      if (answer === true) await hasPort
      return answer
    },
    begin: (long: boolean) => port?.postMessage({ type: 'begin', long }),
    end: () =>
      new Promise<unknown>((resolve) => {
        if (!port) return resolve(undefined)
        waiting.set(++lastId, resolve)
        port.postMessage({ type: 'end', id: lastId })
      }),
  }
}

/** A port to the runner, a look at the state of the card, and nothing else. Whoever receives a message checks it: the runner, the watch, the page. */
contextBridge.exposeInMainWorld('opscopeHost', {
  send: (message: FromHost) => ipcRenderer.send(CHANNEL, message),
  onMessage(listener: (message: unknown) => void) {
    ipcRenderer.removeAllListeners(CHANNEL)
    ipcRenderer.on(CHANNEL, (_event: IpcRendererEvent, message: unknown) => listener(message))
  },
  watch: watchLink(),
})
