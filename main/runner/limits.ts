/** How long the runner waits for others, in ms. Tests shorten them. */
export interface Limits {
  /** A host that says nothing for this long, or for four times the expected time of its case, has hung. */
  silenceMs: number
  /** How long a host may take to end its case after `cancel` before it is killed. */
  cancelMs: number
  /** How long a host may take to list its devices. */
  devicesMs: number
  /** Least time between two events of a kind to listeners. */
  eventMs: number
  /** Pause before a host that did not start is tried again. */
  retryMs: number
  /** Failed starts in a row after which a host is given up for the rest of the run. */
  startAttempts: number
}

export const LIMITS: Limits = { silenceMs: 30_000, cancelMs: 2_000, devicesMs: 60_000, eventMs: 100, retryMs: 250, startAttempts: 3 }
