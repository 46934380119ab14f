import { z } from 'zod'
import type { DeviceState } from '@core/backend'
import type { HostProcess } from '../../../measurement/link'
import { fromWatchSchema, type FromWatch, type ToWatch } from './protocol'

/** Starting a process and the management library; the page does not wait so long (renderer/webgpu/watch). */
const OPEN_MS = 10_000

/**
 * The watch of one measurement page: what the page may ask for, in its own words (preload/webgpu.ts), unchecked. Nothing
 * rejects: a card that cannot be watched has no state, and that is all.
 */
export interface WatchOwner {
  /** Whether the one card of this name can be watched now. The page asks once for each device it opens. */
  open(name: unknown): Promise<boolean>
  begin(long: unknown): void
  /** What was seen since `begin`; undefined where nobody looks. */
  end(): Promise<DeviceState | undefined>
  /** Ends the watch with its page. */
  close(): void
}

type Answer = (message: FromWatch | undefined) => void

/** `start` begins a process of program.ts; `worker` tells the process that computes on the card, 0 where not known. */
export function createWatchOwner(start: () => Promise<HostProcess<ToWatch>>, worker: () => number): WatchOwner {
  let child: HostProcess<ToWatch> | undefined
  let closed = false
  let lastId = 0
  /** One question at a time; one that comes before the answer takes its place. */
  let waiting: { id: number; answer: Answer } | undefined

  const settle = (id: number, message: FromWatch | undefined) => {
    if (waiting?.id !== id) return
    const { answer } = waiting
    waiting = undefined
    answer(message)
  }
  const ask = (process: HostProcess<ToWatch>, id: number, question: ToWatch) =>
    new Promise<FromWatch | undefined>((answer) => {
      if (waiting) settle(waiting.id, undefined)
      waiting = { id, answer }
      process.post(question)
    })
  const leave = (process: HostProcess<ToWatch>) => {
    process.kill()
    if (child !== process) return
    child = undefined
    if (waiting) settle(waiting.id, undefined)
  }

  return {
    async open(raw) {
      const name = z.string().min(1).max(200).safeParse(raw)
      if (child) leave(child)
      if (!name.success || closed) return false
      const id = ++lastId
      try {
        const process = await start()
        process.onExit(() => leave(process))
        process.onStderr(() => undefined)
        process.onMessage((message) => {
          const parsed = fromWatchSchema.safeParse(message)
          if (!parsed.success) leave(process)
          else settle(parsed.data.type === 'state' ? parsed.data.id : id, parsed.data)
        })
        // Meanwhile the page may have gone, or asked again.
        if (closed || id !== lastId) {
          process.kill()
          return false
        }
        child = process
        const late = setTimeout(() => settle(id, undefined), OPEN_MS)
        const answer = await ask(process, id, { type: 'open', name: name.data, worker: worker() })
        clearTimeout(late)
        if (answer?.type === 'opened' && answer.ok) return true
        leave(process)
      } catch {
        // Not to be had: as good as a card that cannot be watched.
      }
      return false
    },
    begin(long) {
      child?.post({ type: 'begin', long: long === true })
    },
    async end() {
      if (!child) return undefined
      const id = ++lastId
      const answer = await ask(child, id, { type: 'end', id })
      return answer?.type === 'state' ? answer.state : undefined
    },
    close() {
      closed = true
      if (child) leave(child)
    },
  }
}
