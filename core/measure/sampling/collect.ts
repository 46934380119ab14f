import type { DeviceState } from '../../backend'
import type { Mode } from '../../case'
import type { SampleLabel } from '../../result'
import { median } from '../../stats/descriptive'
import { cleanSamples, labelSamples } from '../result/labels'
import type { Sampler, Timed } from './sampler'
import type { Decision, StoppingCriterion } from './stopping'
import type { WarmPace } from './warm-up'

export interface CollectRequest {
  sample: Sampler
  mode: Mode
  pace: WarmPace
  criterion: StoppingCriterion
  /** Wall time that sampling is planned to last: batches are cut to fit it. */
  minSeconds: number
  maxSeconds: number
  /** Monotonic clock in ms. */
  now: () => number
  /** After each batch, with the samples so far. */
  onBatch: (samples: number, relativeCi: number | undefined) => void
}

export interface Collected {
  samplesNs: number[]
  /** Calls in each sample, as made. */
  inner: number
  measuredSeconds: number
  /** Wall time of sampling: flushes and launches count. */
  elapsedSeconds: number
  /** One for each batch. */
  states: { firstSample: number; state: DeviceState }[]
  /** One per sample, where the backend has them. */
  clocksMhz?: number[]
  probesNs?: number[]
  /** Median over the batches of the host's time for one call in ns, where the backend has it. */
  hostCallNs?: number
  labels: SampleLabel[]
  converged: boolean
  stopReason: string
}

/** One backend call lasts about this at most, so that progress is seen and cancel is prompt. */
const LONGEST_BATCH_SECONDS = 0.5
/** The least measured time is cut into this many backend calls, */
const BATCHES_PER_MINIMUM = 4
/** but none for less than this: where the way to the device takes milliseconds, that would be all they do. */
const SHORTEST_BATCH_SECONDS = 0.01
const MAX_BATCH_SAMPLES = 50_000

/**
 * Takes batches until the criterion says stop, labelling what was taken while something was wrong; the criterion sees
 * the samples that count. The window of the warm-up that had settled counts where the criterion takes it. Batches grow with the time spent: some ten calls make a usual case.
 */
export async function collect(request: CollectRequest): Promise<Collected> {
  const { sample, mode, criterion, now, pace } = request
  let taken: Taken = none(pace.inner)
  let wallSecondsPerSample = pace.wallSecondsPerSample
  let expected = criterion.planned
  let from = now()
  if (pace.window && criterion.takesWarmUp) {
    add(taken, pace.window)
    taken.elapsedSeconds = wallSecondsPerSample * taken.samplesNs.length
    from -= taken.elapsedSeconds * 1000
  }
  for (;;) {
    const count = nextCount(request, { elapsed: taken.elapsedSeconds, taken: taken.samplesNs.length, wallSecondsPerSample, expected })
    const timed = await sample({ mode, count, inner: taken.inner })
    // Samples of fewer or more calls have another spread: a result keeps those of one length.
    if (timed.inner !== taken.inner) taken = none(timed.inner)
    add(taken, timed)
    wallSecondsPerSample = timed.wallSecondsPerSample
    taken.elapsedSeconds = (now() - from) / 1000
    const { labels, decision } = judge(taken, criterion)
    request.onBatch(taken.samplesNs.length, decision.relativeCi)
    if (decision.stop) {
      const { hostCallsNs, ...collected } = taken
      const hostCallNs = median(hostCallsNs)
      return { ...collected, ...(hostCallNs === undefined ? {} : { hostCallNs }), labels, converged: decision.converged, stopReason: decision.reason }
    }
    expected = decision.expectedSamples
  }
}

type Taken = Omit<Collected, 'hostCallNs' | 'labels' | 'converged' | 'stopReason'> & { hostCallsNs: number[] }

const none = (inner: number): Taken => ({ samplesNs: [], inner, measuredSeconds: 0, elapsedSeconds: 0, states: [], hostCallsNs: [] })

function add(taken: Taken, timed: Timed): void {
  const first = taken.samplesNs.length
  taken.states.push({ firstSample: first, state: timed.state })
  if (timed.hostCallNs !== undefined) taken.hostCallsNs.push(timed.hostCallNs)
  for (const ns of timed.samplesNs) {
    taken.samplesNs.push(ns)
    taken.measuredSeconds += (ns * timed.inner) / 1e9
  }
  for (const [name, values] of [['clocksMhz', timed.clockMhz], ['probesNs', timed.probeNs]] as const) {
    // 0 stands for a reading that is missing beside others that are there.
    if (!values && !taken[name]) continue
    const kept = (taken[name] ??= new Array<number>(first).fill(0))
    for (let i = 0; i < timed.samplesNs.length; i++) kept.push(values?.[i] ?? 0)
  }
}

/** Asks the criterion about the samples that count, and turns its answer into samples to take. */
function judge(taken: Taken, criterion: StoppingCriterion): { labels: SampleLabel[]; decision: Decision } {
  const { samplesNs, measuredSeconds, elapsedSeconds } = taken
  const count = samplesNs.length
  const labels = labelSamples({ ...taken, count })
  if (labels.length === 0) return { labels, decision: criterion.decide({ samplesNs, measuredSeconds, elapsedSeconds }) }
  const counted = cleanSamples({ samplesNs, labels })
  const share = counted.length / count
  const decision = criterion.decide({ samplesNs: counted, measuredSeconds: measuredSeconds * share, elapsedSeconds })
  if (decision.stop || decision.expectedSamples === undefined) return { labels, decision }
  return { labels, decision: { ...decision, expectedSamples: Math.ceil(decision.expectedSamples / share) } }
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
  const seconds = Math.min(Math.max(minSeconds / BATCHES_PER_MINIMUM, elapsed / 2, SHORTEST_BATCH_SECONDS), LONGEST_BATCH_SECONDS, left)
  const affordable = Math.max(1, Math.min(MAX_BATCH_SAMPLES, Math.floor(seconds / Math.max(wallSecondsPerSample, 1e-7))))
  if (expected === undefined || expected <= taken) return affordable
  return Math.max(1, Math.min(affordable, expected - taken))
}
