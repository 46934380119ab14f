import type { DeviceState } from '../backend'
import type { Mode } from '../case'
import type { Sampler } from './sampler'
import type { Decision, StoppingCriterion } from './stopping'
import type { Pace } from './warm-up'

export interface CollectRequest {
  sample: Sampler
  mode: Mode
  pace: Pace
  criterion: StoppingCriterion
  minSeconds: number
  maxSeconds: number
  /** Monotonic clock in ms. */
  now: () => number
  /** After each batch, with the samples so far. */
  onBatch: (samples: number, relativeCi: number | undefined) => void
}

export interface Collected {
  samplesNs: number[]
  measuredSeconds: number
  states: { firstSample: number; state: DeviceState }[]
  converged: boolean
  stopReason: string
}

/** One backend call lasts about this at most, so that progress is seen and cancel is prompt. */
const LONGEST_BATCH_SECONDS = 0.5
/** The least measured time is cut into this many backend calls. */
const BATCHES_PER_MINIMUM = 4
const MAX_BATCH_SAMPLES = 50_000

/** Takes batches until the criterion says stop. Batches grow with the time spent: some ten calls make a usual case. */
export async function collect(request: CollectRequest): Promise<Collected> {
  const { sample, mode, criterion, now, pace } = request
  const samplesNs: number[] = []
  const states: Collected['states'] = []
  let measuredSeconds = 0
  let wallSecondsPerSample = pace.wallSecondsPerSample
  let decision: Decision = { stop: false }
  const from = now()
  for (;;) {
    const elapsedBefore = (now() - from) / 1000
    const count = nextCount(request, { elapsed: elapsedBefore, taken: samplesNs.length, wallSecondsPerSample, expected: decision.expectedSamples })
    const timed = await sample({ mode, count, inner: pace.inner })
    if (Object.values(timed.state).some((value) => value !== undefined)) states.push({ firstSample: samplesNs.length, state: timed.state })
    for (const ns of timed.samplesNs) {
      samplesNs.push(ns)
      measuredSeconds += (ns * pace.inner) / 1e9
    }
    wallSecondsPerSample = timed.wallSecondsPerSample
    const verdict = criterion.decide({ samplesNs, measuredSeconds, elapsedSeconds: (now() - from) / 1000 })
    request.onBatch(samplesNs.length, verdict.relativeCi)
    if (verdict.stop) return { samplesNs, measuredSeconds, states, converged: verdict.converged, stopReason: verdict.reason }
    decision = verdict
  }
}

interface BatchInput {
  elapsed: number
  taken: number
  wallSecondsPerSample: number
  expected: number | undefined
}

/** Samples for the next backend call: a growing share of the time so far, but no more than will probably be needed. */
function nextCount({ minSeconds, maxSeconds }: CollectRequest, { elapsed, taken, wallSecondsPerSample, expected }: BatchInput): number {
  const left = Math.max(0, maxSeconds - elapsed)
  const seconds = Math.min(Math.max(minSeconds / BATCHES_PER_MINIMUM, elapsed / 2), LONGEST_BATCH_SECONDS, left)
  const affordable = Math.max(1, Math.min(MAX_BATCH_SAMPLES, Math.floor(seconds / Math.max(wallSecondsPerSample, 1e-7))))
  if (expected === undefined || expected <= taken) return affordable
  return Math.max(1, Math.min(affordable, expected - taken))
}
