/** Longest that work goes on without a look at input, in ms: half a frame. */
const SLICE_MS = 8
const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve))

export interface SliceOptions {
  /** Asked between slices: work that is no longer wanted is given up. */
  wanted?: () => boolean
  /** Lets everything else that waits have its turn. */
  pause?: () => Promise<void>
  /** A clock in ms. */
  now?: () => number
}

/** Does long work of the page in short slices, between which it answers input and draws. Undefined where the work was given up. */
export async function inSlices<T>(steps: Generator<unknown, T, void>, { wanted = () => true, pause = nextTask, now = () => performance.now() }: SliceOptions = {}): Promise<T | undefined> {
  while (wanted()) {
    const start = now()
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (now() - start < SLICE_MS)
    await pause()
  }
  return undefined
}
