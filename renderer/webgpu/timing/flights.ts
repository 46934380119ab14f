import { CaseError } from '@core/backend'
import { REQUEST_MS } from './calls'
import { LANES } from './marks'

/** Submissions on their way at once: while one is read, the device works on the next. */
const DEPTH = LANES - 1
/** Work on its way at most, in ns, so that cancel is prompt. A single submission may be longer. */
const MOST_NS = 50e6
/** Submissions in a row without one usable time, after which the clock is given up. */
const HOPELESS = 8

/** A submission of some samples on its way. */
export interface Flight<T> {
  /** Samples it was made of. */
  samples: number
  /** How long it is thought to take, in ns; Infinity where that is not known yet. */
  ns: number
  /** The usable samples. */
  taken: Promise<ArrayLike<T> & Iterable<T>>
}

/** Flies submissions until there are `count` samples or the time of a request is over; at least one sample. `launch` is told how many are still wanted. */
export async function fly<T>(count: number, launch: (left: number) => Flight<T>, now = () => performance.now()): Promise<T[]> {
  const samples: T[] = []
  const flights: Flight<T>[] = []
  const until = now() + REQUEST_MS
  const sum = (of: (flight: Flight<T>) => number) => flights.reduce((total, flight) => total + of(flight), 0)
  let barren = 0
  try {
    for (;;) {
      while (flights.length < DEPTH) {
        const left = count - samples.length - sum((flight) => flight.samples)
        const late = samples.length > 0 && now() >= until
        if (left <= 0 || late || (flights.length > 0 && sum((flight) => flight.ns) >= MOST_NS)) break
        flights.push(launch(left))
      }
      const first = flights[0]
      if (!first) return samples
      const taken = await first.taken
      flights.shift()
      samples.push(...taken)
      barren = taken.length > 0 ? 0 : barren + 1
      if (barren === HOPELESS) throw new CaseError('internal', 'The timestamps of the WebGPU device make no sense: they are missing or run backwards.')
    }
  } finally {
    await Promise.allSettled(flights.map(({ taken }) => taken))
  }
}
