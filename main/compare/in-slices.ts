import type { Progress, Steps } from '@core/compare'
import { withoutLocale } from '@core/units'

/** The work was given up. */
export class CancelledError extends Error {
  override name = 'CancelledError'
}

export interface SliceOptions {
  /** Longest that the work goes on without letting others have a turn, in ms. */
  sliceMs?: number
  /** Told between slices. */
  onProgress?: (progress: Progress) => void
  signal?: AbortSignal
  /** Lets everything else that waits have its turn. */
  pause?: () => Promise<void>
  /** A clock in ms. */
  now?: () => number
}

/** Timers and events of the process go first, then the next slice. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Does long work in the main process in short slices, so that windows, runs and requests are answered in between. Its texts have no
 * locale, because what it gives is also exported; the window puts them into its own. Throws
 * CancelledError once `signal` is aborted; the steps are closed then.
 */
export async function inSlices<T>(steps: Steps<T>, { sliceMs = 12, onProgress, signal, pause = nextTurn, now = () => performance.now() }: SliceOptions = {}): Promise<T> {
  for (;;) {
    const start = now()
    let progress: Progress | undefined
    do {
      const step = withoutLocale(() => steps.next())
      if (step.done) return step.value
      progress = step.value
    } while (now() - start < sliceMs)
    onProgress?.(progress)
    await pause()
    if (!signal?.aborted) continue
    steps.return(undefined as never)
    throw new CancelledError('The comparison was stopped.')
  }
}
