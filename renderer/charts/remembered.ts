const kept = new WeakMap<object, Map<string, unknown>>()

/**
 * What `make` returned for this list and key the last time: a selection draws a chart anew while its points stay the
 * same list, and looking through 100,000 of them takes longer than a frame. The list must never be changed in place.
 */
export function remembered<T>(list: object, key: string, make: () => T): T {
  const own = kept.get(list) ?? new Map<string, unknown>()
  kept.set(list, own)
  if (!own.has(key)) own.set(key, make())
  return own.get(key) as T
}
