import { CaseError, type DeviceState, type PreparedCase, type SampleBatch, type SampleRequest } from '../backend'
import { pause } from './pause'

/** The case was asked to end; no result is kept. */
export class CancelledError extends Error {
  override name = 'CancelledError'
  constructor() {
    super('The case was cancelled.')
  }
}

export interface Timed {
  samplesNs: Float64Array
  state: DeviceState
  /** Wall time of the call per sample, in seconds: flushes and launches count. */
  wallSecondsPerSample: number
}

/** Takes checked batches from a prepared case, giving cancel a chance between them. */
export type Sampler = (request: SampleRequest) => Promise<Timed>

/** `now` is in ms. Throws CancelledError when the signal is set, CaseError when a backend returns nonsense. */
export function createSampler(prepared: PreparedCase, now: () => number, signal: AbortSignal | undefined): Sampler {
  return async (request) => {
    if (signal?.aborted) throw new CancelledError()
    const from = now()
    const batch = await prepared.sample(request)
    const wallMs = Math.max(0, now() - from)
    checkBatch(batch, request)
    await pause()
    if (signal?.aborted) throw new CancelledError()
    return { samplesNs: batch.samplesNs, state: batch.state, wallSecondsPerSample: wallMs / 1000 / batch.samplesNs.length }
  }
}

function checkBatch(batch: SampleBatch, request: SampleRequest): void {
  const { samplesNs } = batch
  if (samplesNs.length === 0) throw new CaseError('internal', `The backend returned no sample; ${request.count} were asked for.`)
  for (let i = 0; i < samplesNs.length; i++) {
    const value = samplesNs[i]!
    if (!Number.isFinite(value) || value < 0) {
      throw new CaseError('internal', `The backend returned ${value} ns as sample ${i} of ${samplesNs.length}; expected a time of 0 or more.`)
    }
  }
}
