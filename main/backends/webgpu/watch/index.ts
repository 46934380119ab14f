import { app, type IpcMainInvokeEvent, type WebContents } from 'electron'
import { createWatchOwner } from './owner'
import { startWatch } from './start'

/** As in preload/webgpu.ts. */
const CHANNELS = { open: 'webgpu-watch:open', port: 'webgpu-watch:port' } as const

/** Chromium computes WebGPU in its GPU process, which is no stranger on the card. */
const gpuProcess = (): number => app.getAppMetrics().find(({ type }) => type === 'GPU')?.pid ?? 0

/** Lets a page that `isOurs` have the card behind its adapter watched. Nothing is started before it asks; `close` ends what was. */
export function watchFor(contents: WebContents, isOurs: (event: IpcMainInvokeEvent) => boolean): { close(): void } {
  const owner = createWatchOwner(startWatch, gpuProcess)
  contents.ipc.handle(CHANNELS.open, async (event, name: unknown) => {
    const port = isOurs(event) ? await owner.open(name) : undefined
    if (!port || contents.isDestroyed()) return false
    contents.postMessage(CHANNELS.port, null, [port])
    return true
  })
  return owner
}
