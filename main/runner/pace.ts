/** Weight of the plan's estimate against what was seen, in estimated seconds. */
const PRIOR_SECONDS = 2

/** A case's share of the plan: where it runs, and its expected wall time in seconds. */
export interface Expected {
  device: string
  seconds: number
}

interface Lane {
  left: number
  done: number
  took: number
}

/**
 * Time left of a run: what the plan expects of the remaining cases, scaled per device by how its estimates fared so far.
 * Keeps sums only, so that asking ten times a second costs nothing in a run of 100,000 cases.
 */
export class Pace {
  readonly #lanes = new Map<string, Lane>()

  constructor(cases: readonly Expected[]) {
    for (const { device, seconds } of cases) this.#lane(device).left += seconds
  }

  /** This case ended after `tookSeconds`. */
  ended({ device, seconds }: Expected, tookSeconds: number): void {
    const lane = this.#lane(device)
    lane.left -= seconds
    lane.done += seconds
    lane.took += tookSeconds
  }

  secondsLeft(): number {
    let sum = 0
    for (const { left, done, took } of this.#lanes.values()) sum += Math.max(0, left) * ((took + PRIOR_SECONDS) / (done + PRIOR_SECONDS))
    return sum
  }

  #lane(device: string): Lane {
    let lane = this.#lanes.get(device)
    if (!lane) this.#lanes.set(device, (lane = { left: 0, done: 0, took: 0 }))
    return lane
  }
}
