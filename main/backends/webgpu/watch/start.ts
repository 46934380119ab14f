import { MessageChannelMain, utilityProcess, app, type MessagePortMain, type IpcMainInvokeEvent, type WebContents } from 'electron'
import { gpuHoldersFolder, findProgram } from '../../../measurement/host'
import { createWatchOwner, type WatchProcess } from './owner'

/** Starts the process that watches a card. Rejects where it ends before it began. */
async function startWatch(): Promise<WatchProcess<MessagePortMain>> {
  // This app's processes on the GPU are known by a folder: a command line's, which started this Electron, or our own.
  const env = { ...process.env, OPSCOPE_GPU_HOLDERS: process.env['OPSCOPE_GPU_HOLDERS'] ?? gpuHoldersFolder() }
  const child = utilityProcess.fork(findProgram('gpu-watch.js'), [], { serviceName: 'Opscope GPU watch', stdio: 'ignore', env })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', () => resolve())
    child.once('exit', (status) => reject(new Error(`exited with status ${status}`)))
  })
  return {
    open(request) {
      const { port1, port2 } = new MessageChannelMain()
      child.postMessage(request, [port1])
      return port2
    },
    kill: () => endNow(child.pid),
    onMessage: (listener) => void child.on('message', listener),
    onExit: (listener) => void child.on('exit', listener),
  }
}

/** Electron's own `kill` asks politely, which a process that hangs in the driver ignores. */
function endNow(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}

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
