import { CaseError } from '@core/backend'
import type { Gpu } from '../gpu/gpu'
import { pairsOf, passTimes, type PassNs, type PassPair } from './arithmetic'
import { lengthening, samplesPerSubmission, REQUEST_MS, type Calls, type CaseTimer } from './calls'
import type { Flush } from './flush'
import { MAX_MARKS, MAX_SUBMISSIONS, type TimestampSet, type Marks } from './marks'
import type { BackgroundLoad } from './background-load'

/** Two passes of two timestamps each. */
const SAMPLES_PER_SUBMISSION = MAX_MARKS / 4

const sumOf = (passNs: readonly PassNs[]): number => passNs.reduce<number>((sum, ns) => sum + (ns ?? 0), 0)

/** Times calls by timestamps on compute passes. `flush` writes over the caches in a pass of its own; `backgroundLoad` keeps a real device from resting in between. */
export function timestampTimer(gpu: Gpu, marks: Marks, calls: Calls, flush: Flush, backgroundLoad: BackgroundLoad | undefined): CaseTimer {
  /** What was seen last, to size submissions; a first submission has one sample. */
  let nsPerCall: number | undefined
  let nsPerCold: number | undefined

  /** One submission of `count` of the samples `left` to take, of two passes each; `read` makes samples of their times. */
  function launch<T>(left: number, count: number, ns: number, passes: readonly ((pass: GPUComputePassEncoder) => void)[], read: (passNs: PassNs[]) => T[]): Flight<T> {
    const lane: TimestampSet = marks.lane()
    const encoder = gpu.device.createCommandEncoder()
    for (let i = 0; i < count * passes.length; i++) {
      const pass = encoder.beginComputePass({ timestampWrites: lane.on(i) })
      passes[i % passes.length]!(pass)
      pass.end()
    }
    // With more behind it on its way the device does not rest.
    const alone = count >= left || !Number.isFinite(ns)
    return { samples: count, ns, taken: lane.submit(encoder, count * passes.length, alone ? backgroundLoad?.bridge : undefined).then((found) => read(passTimes(found))) }
  }

  function pairs(left: number, each: number): Flight<PassPair> {
    const count = nsPerCall === undefined ? 1 : samplesPerSubmission(left, SAMPLES_PER_SUBMISSION, 3 * each * nsPerCall, 3 * each * calls.dispatches)
    return launch(left, count, nsPerCall === undefined ? Infinity : 3 * each * nsPerCall * count, [(pass) => calls.encode(pass, each), (pass) => calls.encode(pass, 2 * each)], (passNs) => {
      nsPerCall = sumOf(passNs) / (3 * each * count)
      return pairsOf(passNs)
    })
  }

  function flushed(left: number): Flight<number> {
    const count = nsPerCold === undefined ? 1 : samplesPerSubmission(left, SAMPLES_PER_SUBMISSION, nsPerCold, 1 + calls.dispatches)
    return launch(left, count, nsPerCold === undefined ? Infinity : nsPerCold * count, [flush.encode, (pass) => calls.encode(pass, 1)], (passNs) => {
      nsPerCold = sumOf(passNs) / count
      return passNs.filter((ns, i): ns is number => i % 2 === 1 && ns !== undefined)
    })
  }

  const awake = async <T>(count: number, next: (left: number) => Flight<T>): Promise<T[]> => {
    await backgroundLoad?.wake()
    return fly(count, next)
  }

  return {
    ...lengthening((count, each) => awake(count, (left) => pairs(left, each)), () => nsPerCall),
    cold: async (count) => ({ samplesNs: Float64Array.from(await awake(count, flushed)), inner: 1 }),
  }
}

/** Submissions on their way at once: while one is read, the device works on the next. */
const DEPTH = MAX_SUBMISSIONS - 1
/** Work on its way at most, in ns, so that cancel is prompt. A single submission may be longer. */
const MAX_NS = 50e6
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
  let emptyInARow = 0
  try {
    for (;;) {
      while (flights.length < DEPTH) {
        const left = count - samples.length - sum((flight) => flight.samples)
        const late = samples.length > 0 && now() >= until
        if (left <= 0 || late || (flights.length > 0 && sum((flight) => flight.ns) >= MAX_NS)) break
        flights.push(launch(left))
      }
      const first = flights[0]
      if (!first) return samples
      const taken = await first.taken
      flights.shift()
      samples.push(...taken)
      emptyInARow = taken.length > 0 ? 0 : emptyInARow + 1
      if (emptyInARow === HOPELESS) throw new CaseError('internal', 'The timestamps of the WebGPU device make no sense: they are missing or run backwards.')
    }
  } finally {
    await Promise.allSettled(flights.map(({ taken }) => taken))
  }
}
