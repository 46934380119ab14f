/** Weight of the plan's estimate against what was seen, in estimated seconds. */
const PRIOR_SECONDS = 2

/** Work and where it runs, in expected seconds of wall time. */
export interface Expected {
  device: string
  seconds: number
}

/** Expected seconds by device: sums only, so that asking ten times a second costs nothing in a run of 100,000 cases. */
export class Outlook implements Iterable<Expected> {
  readonly #seconds = new Map<string, number>()

  /** More work, or less where `seconds` is negative. */
  add(device: string, seconds: number): void {
    this.#seconds.set(device, (this.#seconds.get(device) ?? 0) + seconds)
  }

  *[Symbol.iterator](): Iterator<Expected> {
    // Sums of what was added and taken away again end near zero, on either side of it.
    for (const [device, seconds] of this.#seconds) yield { device, seconds: Math.max(0, seconds) }
  }
}

/** How the estimates of each device fared so far, and the time left of a run by that. */
export class Pace {
  readonly #lanes = new Map<string, { expected: number; took: number }>()

  /** A case that was expected to take this long ended after `tookSeconds`. */
  ended({ device, seconds }: Expected, tookSeconds: number): void {
    const { expected, took } = this.#lane(device)
    this.#lanes.set(device, { expected: expected + seconds, took: took + tookSeconds })
  }

  secondsLeft(left: Iterable<Expected>): number {
    let sum = 0
    for (const { device, seconds } of left) {
      const { expected, took } = this.#lane(device)
      sum += seconds * ((took + PRIOR_SECONDS) / (expected + PRIOR_SECONDS))
    }
    return sum
  }

  #lane = (device: string) => this.#lanes.get(device) ?? { expected: 0, took: 0 }
}
