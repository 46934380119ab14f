/** Weight of the plan's estimate against what was seen, in estimated seconds. */
const PRIOR_SECONDS = 2

/** Time left of a run: the plan's estimate of what remains, scaled by how the estimate fared so far. */
export class Pace {
  #estimatedLeft: number
  #estimatedDone = 0
  #tookSeconds = 0

  /** `estimates[i]` is the expected wall time of case i, in seconds. */
  constructor(private readonly estimates: readonly number[]) {
    this.#estimatedLeft = estimates.reduce((a, b) => a + b, 0)
  }

  /** Case i ended after `seconds`. */
  caseEnded(i: number, seconds: number): void {
    const estimate = this.estimates[i] ?? 0
    this.#estimatedLeft -= estimate
    this.#estimatedDone += estimate
    this.#tookSeconds += seconds
  }

  secondsLeft(): number {
    const ratio = (this.#tookSeconds + PRIOR_SECONDS) / (this.#estimatedDone + PRIOR_SECONDS)
    return Math.max(0, this.#estimatedLeft) * ratio
  }
}
