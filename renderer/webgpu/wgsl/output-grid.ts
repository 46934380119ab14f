/** How the threads of workgroups share an output of rows and columns, without tiles: each thread has some of both. */
export interface OutputGrid {
  /** Threads beside each other, and rows of threads. */
  wide: number
  high: number
  /** Columns of a thread, `wide` apart, and rows. */
  across: number
  down: number
  /** Workgroups beside and below each other. */
  beside: number
  below: number
}

/** Columns that workgroups cover, of the fewest that any do: more of a thread are worth some that stand empty. */
export const MOST_COVERED = 1.1
