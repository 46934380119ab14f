import { app, type IpcMainInvokeEvent, MessageChannelMain, type MessagePortMain, utilityProcess, type WebContents } from 'electron'
import { findProgram, gpuHoldersFolder } from '../../../measurement/host'
import { openedSchema, type OpenRequest, openSchema } from './serve-watch'

/** Starting the management library; the page does not wait so long (renderer/webgpu/watch). */
const OPEN_MS = 10_000

/** A process of program.ts that has started. `Port` is the end of a channel that leads to it. */
export interface WatchProcess<Port> {
  /** Sends it the request, and gives the page's end of a channel to it. */
  open(request: OpenRequest): Port
  kill(): void
  /** Messages are unparsed. */
  onMessage(listener: (message: unknown) => void): void
  onExit(listener: () => void): void
}

/** The watch of one measurement page. Nothing rejects: a card that cannot be watched has no state, and that is all. */
export interface WatchOwner<Port> {
  /**
   * A way for the page to the watch of the one card of this name; undefined where that cannot be watched. The page asks once
   * for each device it opens, and unchecked; the watch before ends.
   */
  open(name: unknown): Promise<Port | undefined>
  /** Ends the watch with its page. */
  close(): void
}

/** `start` begins a process; `worker` tells the process that computes on the card, 0 where not known. */
export function createWatchOwner<Port>(start: () => Promise<WatchProcess<Port>>, worker: () => number): WatchOwner<Port> {
  let current: WatchProcess<Port> | undefined
  let closed = false
  let asked = 0

  return {
    async open(name) {
      const turn = ++asked
      current?.kill()
      current = undefined
      try {
        const request = openSchema.parse({ type: 'open', name, worker: worker() })
        if (closed) return undefined
        const process = await start()
        // Meanwhile the page may have gone, or asked again.
        if (closed || turn !== asked) {
          process.kill()
          return undefined
        }
        current = process
        const { port, answer } = opening(process, request)
        if (await answer) return port
        process.kill()
      } catch {
        // No name, or not to be started: as good as a card that cannot be watched.
      }
      return undefined
    },
    close() {
      closed = true
      current?.kill()
      current = undefined
    },
  }
}

/** The way to the process, and whether it could open the card: false also where it ends, says nonsense or nothing. */
function opening<Port>(process: WatchProcess<Port>, request: OpenRequest): { port: Port; answer: Promise<boolean> } {
  let settle: (ok: boolean) => void = () => undefined
  const answer = new Promise<boolean>((resolve) => (settle = resolve))
  const late = setTimeout(() => settle(false), OPEN_MS)
  process.onExit(() => settle(false))
  process.onMessage((message) => {
    const parsed = openedSchema.safeParse(message)
    settle(parsed.success && parsed.data.ok)
  })
  const port = process.open(request)
  return { port, answer: answer.finally(() => clearTimeout(late)) }
}

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
