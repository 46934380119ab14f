import { printable } from '../printable'

type Listeners<Events> = { [E in keyof Events]?: Set<(payload: Events[E]) => void> }

/** A listener set per event, typed by the map of payloads. A listener that throws is reported and harms no one else. */
export class Emitter<Events extends object> {
  readonly #listeners: Listeners<Events> = {}

  /** Returns what takes the listener away again. */
  on<E extends keyof Events>(event: E, listener: (payload: Events[E]) => void): () => void {
    const set = (this.#listeners[event] ??= new Set())
    set.add(listener)
    return () => set.delete(listener)
  }

  emit<E extends keyof Events>(event: E, payload: Events[E]): void {
    for (const listener of this.#listeners[event] ?? []) {
      try {
        listener(payload)
      } catch (error) {
        process.stderr.write(printable(`opscope: a listener of "${String(event)}" failed: ${error instanceof Error ? error.stack : String(error)}\n`))
      }
    }
  }
}

/**
 * Calls `act` at most once per `periodMs`: at once when it has been quiet, else when the period is over.
 * Keeps the event loop of a measuring run nearly idle however fast cases end.
 */
export class Coalescer {
  #timer: NodeJS.Timeout | undefined
  #last = -Infinity

  constructor(
    private readonly periodMs: number,
    private readonly act: () => void,
  ) {}

  request(): void {
    if (this.#timer) return
    const wait = this.#last + this.periodMs - performance.now()
    if (wait <= 0) this.flush()
    else this.#timer = setTimeout(() => this.flush(), wait)
  }

  /** Acts now and forgets what was waiting. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#last = performance.now()
    this.act()
  }
}
