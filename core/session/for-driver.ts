/** What was measured on a device under a driver. */
interface Dated {
  driver?: string | undefined
  measuredAt: string
}

/** What speaks against taking a figure for today's: `measured under driver 550.54, now 570.86`. */
export interface Stale {
  stale?: string
}

/**
 * The record of these that holds under `driver`: the one measured under it, else the newest of another one, which says
 * so in `stale`. Where either side does not know its driver there is no telling that it changed.
 */
export function forDriver<T extends Dated>(records: readonly T[], driver: string | undefined): (T & Stale) | undefined {
  const exact = records.find((record) => record.driver === driver)
  if (exact) return exact
  const newest = records.reduce<T | undefined>((last, record) => (last && last.measuredAt >= record.measuredAt ? last : record), undefined)
  if (!newest || driver === undefined || newest.driver === undefined) return newest
  return { ...newest, stale: `measured under driver ${newest.driver}, now ${driver}` }
}
