/** How far a long piece of work is. */
export interface Progress {
  done: number
  total: number
}

/** Long work in steps of a few milliseconds, so that whoever drives it can do other things in between, or give it up. */
export type Steps<T> = Generator<Progress, T, void>

/** Does all the work at once. */
export function drain<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
