/** A device without work for so long, in ms, may have lowered its clock. */
const REST_MS = 30
/** Looks agree, and the clock is the best known, within this share. */
const ALIKE = 0.01
/** So many looks in a row that agree make a clock that changes no more, */
const STEADY_LOOKS = 4
/** once the device has worked for so long, in ms; where its best is known, and not reached, for longer. */
const PATIENCE_MS = { unknown: 300, known: 1000 }
/** A clock that never comes to rest is taken as it is, in ms. */
const LIMIT_MS = 2000

/** Decides when a device that rested is awake, from the times of a fixed piece of work that it is given meanwhile. */
export class Waking {
  #best: number | undefined
  #workedUntilMs = -Infinity
  #fromMs = 0
  #steady: { ns: number; looks: number } | undefined

  /** Whether the device has had nothing to do for a while. */
  rested(nowMs: number): boolean {
    return nowMs - this.#workedUntilMs > REST_MS
  }

  /** The device has work until then. */
  worked(untilMs: number): void {
    this.#workedUntilMs = untilMs
  }

  begin(nowMs: number): void {
    this.#fromMs = nowMs
    this.#steady = undefined
  }

  /**
   * Whether the device is awake, now that the work took `ns`: as fast as it has ever been, or no longer becoming faster.
   * What it comes to is its best from then on: one that stays hot is not waited for again.
   */
  awake(ns: number, nowMs: number): boolean {
    this.#workedUntilMs = nowMs
    const best = this.#best
    if (best !== undefined && ns <= best * (1 + ALIKE)) {
      this.#best = Math.min(best, ns)
      return true
    }
    const steady = this.#steady
    this.#steady = steady && Math.abs(ns / steady.ns - 1) <= ALIKE ? { ns: steady.ns, looks: steady.looks + 1 } : { ns, looks: 1 }
    const spentMs = nowMs - this.#fromMs
    const patience = best === undefined ? PATIENCE_MS.unknown : PATIENCE_MS.known
    if (spentMs < LIMIT_MS && (spentMs < patience || this.#steady.looks < STEADY_LOOKS)) return false
    this.#best = ns
    return true
  }
}
