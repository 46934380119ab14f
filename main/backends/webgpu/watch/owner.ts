import { openedSchema, openSchema, type OpenRequest } from './serve-watch'

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
