import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron'
import type { FromHost } from '@core/measure/protocol'

/** The one channel of the measurement window; main/backends/webgpu/window.ts has the other end. */
const CHANNEL = 'webgpu-host'
/** For the card behind the adapter; main/backends/webgpu/watch has the other end. */
const WATCH = { open: 'webgpu-watch:open', port: 'webgpu-watch:port' } as const
/** For sweeps of the last-level cache; main/backends/webgpu/window.ts has the other end. */
const SWEEPS = { get: 'webgpu-sweeps:get', put: 'webgpu-sweeps:put' } as const

/** The watch answers through a port of its own: by way of main every batch would wait for a process that is busy with the window. */
function watchLink() {
  let port: MessagePort | undefined
  let lastId = 0
  let given: () => void = () => undefined
  const waiting = new Map<unknown, (value: unknown) => void>()

  ipcRenderer.on(WATCH.port, (event: IpcRendererEvent) => {
    port?.close()
    port = event.ports[0]
    if (!port) return
    port.onmessage = ({ data }: MessageEvent<unknown>) => {
      const { id, value } = Object(data) as { id?: unknown; value?: unknown }
      waiting.get(id)?.(value)
      waiting.delete(id)
    }
    given()
  })
  const ask = (type: 'end' | 'energy-start' | 'energy-stop') =>
    new Promise<unknown>((resolve) => {
      if (!port) return resolve(undefined)
      waiting.set(++lastId, resolve)
      port.postMessage({ type, id: lastId })
    })
  return {
    async open(name: string): Promise<unknown> {
      const hasPort = new Promise<void>((resolve) => (given = resolve))
      const answer: unknown = await ipcRenderer.invoke(WATCH.open, name)
      if (answer === true) await hasPort
      return answer
    },
    begin: (long: boolean) => port?.postMessage({ type: 'begin', long }),
    end: () => ask('end'),
    startEnergy: () => ask('energy-start'),
    stopEnergy: () => ask('energy-stop'),
  }
}

/** A port to the runner, a look at the state of the card, sweeps of its cache, and nothing else. Whoever receives a message checks it: the runner, the watch, the page. */
contextBridge.exposeInMainWorld('opscopeHost', {
  send: (message: FromHost) => ipcRenderer.send(CHANNEL, message),
  onMessage(listener: (message: unknown) => void) {
    ipcRenderer.removeAllListeners(CHANNEL)
    ipcRenderer.on(CHANNEL, (_event: IpcRendererEvent, message: unknown) => listener(message))
  },
  watch: watchLink(),
  sweeps: {
    get: (key: string): Promise<unknown> => ipcRenderer.invoke(SWEEPS.get, key),
    put: (key: string, rates: readonly object[]) => ipcRenderer.send(SWEEPS.put, key, rates),
  },
})
