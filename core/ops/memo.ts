import type { ReadInput } from './types'

const kept = new WeakMap<ReadInput, Map<string, unknown>>()

/**
 * What `make` gives, worked out once for each `read` and key: what many ranges of an output need from the inputs (the mean of a
 * channel, the places of an index). `read` always gives the same numbers; the key names the parameters that matter.
 */
export function oncePerRead<T>(read: ReadInput, key: string, make: () => T): T {
  let known = kept.get(read)
  if (!known) kept.set(read, (known = new Map()))
  if (!known.has(key)) known.set(key, make())
  return known.get(key) as T
}
