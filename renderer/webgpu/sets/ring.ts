/** Whose turn it is among the sets of buffers of a case, and which of them calls have used. */
export interface Ring {
  readonly size: number
  /** The set for the next call. */
  next(): number
  /** The set of the last call; the first one before any. */
  readonly last: number
  /** Sets that calls have used since `forget`; the last one where none was called. */
  used(): number[]
  forget(): void
}

export function createRing(size: number): Ring {
  let last: number | undefined
  let calls = 0
  return {
    size,
    next() {
      last = last === undefined ? 0 : (last + 1) % size
      calls++
      return last
    },
    get last() {
      return last ?? 0
    },
    used() {
      const end = last ?? 0
      return Array.from({ length: Math.max(1, Math.min(size, calls)) }, (_, back) => (end - back + size) % size)
    },
    forget() {
      calls = 0
    },
  }
}
