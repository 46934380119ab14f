import { z } from 'zod'

/** Inputs are indexed with 32 bits (core/random.ts), so no extent goes beyond this. */
export const MAX_EXTENT = 2 ** 32

const received = (value: unknown) => (typeof value === 'string' ? `"${value.slice(0, 40)}"` : value === undefined ? 'nothing' : String(value))
const error = (issue: { input?: unknown }) => `expected a whole number from 1 to ${MAX_EXTENT}, received ${received(issue.input)}`

/** One size of an op: a whole number from 1 to MAX_EXTENT. */
export const extent = () => z.number({ error }).int({ error }).min(1, { error }).max(MAX_EXTENT, { error })

/** One word out of a fixed set. */
export const choice = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, { error: (issue) => `expected one of ${words.join(', ')}, received ${received(issue.input)}` })

/** Largest divisor of `n` up to `limit`: the run length that fits a whole number of times into a row of `n`. */
export function divisorUpTo(n: number, limit: number): number {
  for (let d = Math.min(n, limit); d > 1; d--) if (n % d === 0) return d
  return 1
}
