/** Weight of the plan's estimate against what was seen, in estimated seconds. */
const PRIOR_SECONDS = 2

/** Work and where it runs, in expected seconds of wall time. */
export interface Expected {
  device: string
  seconds: number
  /** The track (source.ts) that does it beside others; absent: nothing else is done meanwhile. */
  track?: string | undefined
}

/** Expected seconds by device: sums only, so that asking ten times a second costs nothing in a run of 100,000 cases. */
export class Outlook implements Iterable<Expected> {
  readonly #left = new Map<string, Expected>()

  /** More work, or less where `seconds` is negative. */
  add(device: string, seconds: number, track?: string): void {
    const left = this.#left.get(device) ?? { device, seconds: 0, track }
    left.seconds += seconds
    this.#left.set(device, left)
  }

  *[Symbol.iterator](): Iterator<Expected> {
    // Sums of what was added and taken away again end near zero, on either side of it.
    for (const left of this.#left.values()) yield { ...left, seconds: Math.max(0, left.seconds) }
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
    let alone = 0
    const tracks = new Map<string, number>()
    for (const { device, seconds, track } of left) {
      const { expected, took } = this.#lane(device)
      const own = seconds * ((took + PRIOR_SECONDS) / (expected + PRIOR_SECONDS))
      if (track === undefined) alone += own
      else tracks.set(track, (tracks.get(track) ?? 0) + own)
    }
    return alone + Math.max(0, ...tracks.values())
  }

  #lane = (device: string) => this.#lanes.get(device) ?? { expected: 0, took: 0 }
}
