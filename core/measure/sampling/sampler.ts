import { CaseError, type PreparedCase, type SampleBatch, type SampleRequest } from '../../backend'

/** The case was asked to end; no result is kept. */
export class CancelledError extends Error {
  override name = 'CancelledError'
  constructor() {
    super('The case was cancelled.')
  }
}

export interface Timed extends SampleBatch {
  /** Wall time that one sample more takes, in seconds: flushes and launches count, what each request costs does not. */
  wallSecondsPerSample: number
}

/** Takes checked batches from a prepared case, giving cancel a chance between them. */
export type Sampler = (request: SampleRequest) => Promise<Timed>

/** `now` is in ms; `tempo` knows earlier requests of this case. Throws CancelledError when the signal is set, CaseError when a backend returns nonsense. */
export function createSampler(prepared: PreparedCase, now: () => number, signal: AbortSignal | undefined, tempo = new Tempo()): Sampler {
  return async (request) => {
    if (signal?.aborted) throw new CancelledError()
    const from = now()
    const batch = await prepared.sample(request)
    const seconds = Math.max(0, now() - from) / 1000
    checkBatch(batch, request)
    await pause()
    if (signal?.aborted) throw new CancelledError()
    return { ...batch, wallSecondsPerSample: tempo.see({ samples: batch.samplesNs.length, inner: batch.inner, seconds }) }
  }
}

function checkBatch(batch: SampleBatch, request: SampleRequest): void {
  const { samplesNs, inner, clockMhz, probeNs, hostCallNs } = batch
  if (samplesNs.length === 0) throw new CaseError('internal', `The backend returned no sample; ${request.count} were asked for.`)
  if (!(Number.isInteger(inner) && inner >= 1)) throw new CaseError('internal', `The backend returned samples of ${inner} calls; expected 1 or more.`)
  checkReadings(samplesNs, samplesNs.length, 'ns as sample')
  if (clockMhz) checkReadings(clockMhz, samplesNs.length, 'MHz as the clock of sample')
  if (probeNs) checkReadings(probeNs, samplesNs.length, 'ns as the probe of sample')
  if (hostCallNs !== undefined && !(Number.isFinite(hostCallNs) && hostCallNs >= 0)) throw new CaseError('internal', `The backend returned ${hostCallNs} ns as the host's time for a call; expected 0 or more.`)
}

function checkReadings(values: Float64Array, samples: number, what: string): void {
  if (values.length !== samples) throw new CaseError('internal', `The backend returned ${values.length} readings (${what}) with ${samples} samples; expected one of each.`)
  values.forEach((value, i) => {
    if (!Number.isFinite(value) || value < 0) throw new CaseError('internal', `The backend returned ${value} ${what} ${i} of ${samples}; expected 0 or more.`)
  })
}

interface MaybeImmediate {
  setImmediate?: (callback: () => void) => unknown
}

/**
 * Gives the event loop one turn, so that a waiting cancel message is seen. setImmediate where there is one (Node),
 * else a message to oneself: a zero timeout would cost 1 to 4 ms each time in a page.
 */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const immediate = (globalThis as MaybeImmediate).setImmediate
    if (immediate) {
      immediate(() => resolve())
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

/** How often work that takes long gives a sign of life, in ms: a runner ends a host that says nothing for a minute. */
export const SIGN_OF_LIFE_MS = 1000

/** Turns of the event loop for work that takes long: they throw where the case was cancelled, and `say` something every so often. */
export function breather(signal: AbortSignal | undefined, now: () => number, say: () => void): () => Promise<void> {
  let saidMs = now()
  return async () => {
    await pause()
    if (signal?.aborted) throw new CancelledError()
    if (now() - saidMs < SIGN_OF_LIFE_MS) return
    saidMs = now()
    say()
  }
}

/** Least part of a request's wall time that is thought to grow with its samples: a wrong guess makes the next one four times too long at most. */
const MIN_SHARE = 1 / 4

/**
 * Tells how much wall time a further sample takes, apart from what every request costs: the way to another process and
 * back, a queue that is filled and waited for. Were that spread over the samples, a short request would ask for ever
 * shorter ones, and the device would mostly idle. The cost is known from requests that differ at least twofold in calls.
 */
export class Tempo {
  #last: { calls: number; seconds: number } | undefined
  #requestSeconds = 0

  /** Wall seconds per sample of a request that took `seconds` for `samples` of `inner` calls each. */
  see({ samples, inner, seconds }: { samples: number; inner: number; seconds: number }): number {
    const calls = samples * inner
    const last = this.#last
    this.#last = { calls, seconds }
    if (last && Math.max(calls, last.calls) >= 2 * Math.min(calls, last.calls)) {
      const perCall = (seconds - last.seconds) / (calls - last.calls)
      this.#requestSeconds = Math.max(0, seconds - Math.max(0, perCall) * calls)
    }
    return Math.max(seconds - this.#requestSeconds, seconds * MIN_SHARE) / samples
  }
}
