import { CaseError, type DeviceState, type PreparedCase, type SampleBatch, type SampleRequest } from '../backend'
import { pause } from './pause'
import { Tempo } from './tempo'

/** The case was asked to end; no result is kept. */
export class CancelledError extends Error {
  override name = 'CancelledError'
  constructor() {
    super('The case was cancelled.')
  }
}

export interface Timed {
  samplesNs: Float64Array
  /** Calls in each sample, as made. */
  inner: number
  state: DeviceState
  /** As in SampleBatch: one per sample, where the backend has them. */
  clockMhz?: Float64Array
  probeNs?: Float64Array
  hostCallNs?: number
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
