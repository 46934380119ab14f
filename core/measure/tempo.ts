/** Least part of a request's wall time that is thought to grow with its samples: a wrong guess makes the next one four times too long at most. */
const LEAST_SHARE = 1 / 4

/**
 * Tells how much wall time a further sample takes, apart from what every request costs: the way to another process and
 * back, a queue that is filled and waited for. Were that spread over the samples, a short request would ask for ever
 * shorter ones, and the device would mostly idle. The cost is known from requests that differ at least twofold in calls.
 */
export class Tempo {
  #last: { calls: number; seconds: number } | undefined
  #requestSeconds = 0

  /** Wall seconds per sample of a request that took `seconds` for `samples` of `inner` calls each. */
  see({ samples, inner, seconds }: { samples: number; inner: number; seconds: number }): number {
    const calls = samples * inner
    const last = this.#last
    this.#last = { calls, seconds }
    if (last && Math.max(calls, last.calls) >= 2 * Math.min(calls, last.calls)) {
      const perCall = (seconds - last.seconds) / (calls - last.calls)
      this.#requestSeconds = Math.max(0, seconds - Math.max(0, perCall) * calls)
    }
    return Math.max(seconds - this.#requestSeconds, seconds * LEAST_SHARE) / samples
  }
}
