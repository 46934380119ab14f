import { CaseError } from '@core/backend'
import type { Gpu } from '../gpu/gpu'
import { pairDifferences, passTimes, type PassNs } from './arithmetic'
import { lengthening, REQUEST_MS, samplesPerSubmission, type Calls, type CaseTimer } from './calls'
import type { Flush } from './flush'
import { MAX_MARKS, type Marks } from './marks'
import type { Stirrer } from './stirrer'

/** Two passes of two timestamps each. */
const PAIRS_PER_SUBMISSION = MAX_MARKS / 4
/** Submissions in a row without one usable time, after which the clock is given up. */
const HOPELESS_SUBMISSIONS = 8

const sumOf = (passNs: readonly PassNs[]): number => passNs.reduce<number>((sum, ns) => sum + (ns ?? 0), 0)

/** Times calls by timestamps on compute passes. `flush` writes over the caches in a pass of its own; `stirrer` keeps a real device from resting in between. */
export function timestampTimer(gpu: Gpu, marks: Marks, calls: Calls, flush: Flush, stirrer: Stirrer | undefined): CaseTimer {
  /** What was seen last, to size submissions; a first submission has one sample. */
  let nsPerCall: number | undefined
  let nsPerCold: number | undefined

  const timed = (encoder: GPUCommandEncoder, slot: number, encode: (pass: GPUComputePassEncoder) => void) => {
    const pass = encoder.beginComputePass({ timestampWrites: marks.on(slot) })
    encode(pass)
    pass.end()
  }

  async function pairs(count: number, each: number): Promise<Float64Array> {
    const encoder = gpu.device.createCommandEncoder()
    for (let i = 0; i < count; i++) {
      timed(encoder, 2 * i, (pass) => calls.encode(pass, each))
      timed(encoder, 2 * i + 1, (pass) => calls.encode(pass, 2 * each))
    }
    const passNs = passTimes(await marks.submit(encoder, 2 * count, stirrer?.bridge))
    nsPerCall = sumOf(passNs) / (3 * each * count)
    return pairDifferences(passNs, each)
  }

  async function flushed(count: number): Promise<Float64Array> {
    const encoder = gpu.device.createCommandEncoder()
    for (let i = 0; i < count; i++) {
      timed(encoder, 2 * i, flush.encode)
      timed(encoder, 2 * i + 1, (pass) => calls.encode(pass, 1))
    }
    const passNs = passTimes(await marks.submit(encoder, 2 * count, stirrer?.bridge))
    nsPerCold = sumOf(passNs) / count
    return Float64Array.from(passNs.filter((ns, i): ns is number => i % 2 === 1 && ns !== undefined))
  }

  /** Submissions until there are `count` samples or the time of a request is over. */
  async function gather(count: number, next: (left: number) => Promise<Float64Array>): Promise<Float64Array> {
    await stirrer?.wake()
    const samples: number[] = []
    const until = performance.now() + REQUEST_MS
    for (let barren = 0; samples.length < count && (samples.length === 0 || performance.now() < until); ) {
      const taken = await next(count - samples.length)
      samples.push(...taken)
      barren = taken.length > 0 ? 0 : barren + 1
      if (barren === HOPELESS_SUBMISSIONS) throw new CaseError('internal', 'The timestamps of the WebGPU device make no sense: they are missing or run backwards.')
    }
    return Float64Array.from(samples)
  }

  return {
    hot: lengthening(
      (count, each) => gather(count, (left) => pairs(nsPerCall === undefined ? 1 : samplesPerSubmission(left, PAIRS_PER_SUBMISSION, 3 * each * nsPerCall, 3 * each * calls.dispatches), each)),
      () => nsPerCall,
    ),
    cold: (count) => gather(count, (left) => flushed(nsPerCold === undefined ? 1 : samplesPerSubmission(left, PAIRS_PER_SUBMISSION, nsPerCold, 1 + calls.dispatches))),
  }
}
