import type { Timer } from '@core/backend'
import { lastLevelBytes, type ReadRate } from '@core/roofline/last-level'
import { identityOf, wordsOf } from '../gpu/adapter'
import type { Gpu } from '../gpu/gpu'
import { isQuantized, type Mark, passCost, type PassNs, passTimes, QUANTUM_NS, tickOf } from './arithmetic'
import { type Calls, type CaseTimer, lengthening, REQUEST_MS } from './calls'
import { assumedCacheBytes, createFlush, type Flush } from './flush'
import { createMarks, type Marks } from './marks'
import { createBackgroundLoad } from './background-load'
import { keptSweep, type HostSweeps } from './kept-sweep'
import { sweepReads } from './read-sweep'
import { timestampTimer } from './timestamps'

/** Smallest step of `performance.now()` in ns; Chromium rounds it to 5 us or 100 us. */
export function wallTickNs(): number {
  let smallest = Infinity
  let last = performance.now()
  const until = last + 5
  for (let now = last; now < until; last = now) {
    now = performance.now()
    if (now > last) smallest = Math.min(smallest, now - last)
  }
  return Number.isFinite(smallest) ? smallest * 1e6 : 1e5
}

/** Times whole submissions by the page's clock, for adapters without timestamp queries: the way to the device is in every sample. */
export function wallTimer(gpu: Gpu, calls: Calls, flush: Flush): CaseTimer {
  let nsPerCall: number | undefined

  async function submit(encode: (pass: GPUComputePassEncoder) => void): Promise<number> {
    const encoder = gpu.device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    encode(pass)
    pass.end()
    const commands = encoder.finish()
    const from = performance.now()
    gpu.device.queue.submit([commands])
    await gpu.device.queue.onSubmittedWorkDone()
    return (performance.now() - from) * 1e6
  }

  async function gather<T>(count: number, one: () => Promise<T>): Promise<T[]> {
    const samples: T[] = []
    const until = performance.now() + REQUEST_MS
    do samples.push(await one())
    while (samples.length < count && performance.now() < until)
    return samples
  }

  return {
    ...lengthening(
      (count, each) =>
        gather(count, async () => {
          const onceNs = await submit((pass) => calls.encode(pass, each))
          const twiceNs = await submit((pass) => calls.encode(pass, 2 * each))
          nsPerCall = (onceNs + twiceNs) / (3 * each)
          return { onceNs, twiceNs }
        }),
      () => nsPerCall,
    ),
    async cold(count) {
      const samples = await gather(count, async () => {
        await submit(flush.encode)
        return submit((pass) => calls.encode(pass, 1))
      })
      return { samplesNs: Float64Array.from(samples), inner: 1 }
    },
  }
}

/** How this device tells time, found out once. */
export interface Clock {
  timer: Timer
  /** Smallest time difference it can show, in ns. */
  tickNs: number
  quantized: boolean
  /** What a compute pass costs beside its calls, in ns; undefined where it could not be measured. */
  passCostNs: number | undefined
  /** The last-level cache by which flushes and rotated buffers are sized. */
  cache: LastLevel
  /** Bytes written, and as many read, before a cold call. */
  flushBytes: number
  /** A timer for the calls of one case. */
  forCase(calls: Calls): CaseTimer
}

/** Does next to nothing, so that a pass of it shows what a pass costs. */
const PROBE = `@group(0) @binding(0) var<storage, read_write> word: array<u32>;
@compute @workgroup_size(1)
fn main() { word[0] += 1u; }
`
const PROBE_PAIRS = 48
/** The first passes wake the device and are not counted. */
const PROBE_DROPPED = 16

async function probe(gpu: Gpu, marks: Marks): Promise<{ marks: Mark[]; passNs: PassNs[] }> {
  const pipeline = await gpu.pipeline(PROBE)
  const buffer = gpu.device.createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE })
  const bindings = gpu.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer } }] })
  const lane = marks.lane()
  const encoder = gpu.device.createCommandEncoder()
  for (let pass = 0; pass < 2 * PROBE_PAIRS; pass++) {
    const encoded = encoder.beginComputePass({ timestampWrites: lane.on(pass) })
    encoded.setPipeline(pipeline)
    encoded.setBindGroup(0, bindings)
    // Passes of one and of two calls, interleaved.
    for (let call = 0; call <= pass % 2; call++) encoded.dispatchWorkgroups(1)
    encoded.end()
  }
  const all = await lane.submit(encoder, 2 * PROBE_PAIRS)
  buffer.destroy()
  return { marks: all, passNs: passTimes(all).slice(2 * PROBE_DROPPED) }
}

/** The size of the last-level cache that cold and rotated calls must get past. */
export interface LastLevel {
  bytes: number
  /** Bandwidth of reads by size, from which `bytes` was read; empty where nothing was measured. */
  sweep: readonly ReadRate[]
  /** When it was, where that was at an earlier start. */
  measuredAt?: string | undefined
  /** Why `bytes` is an assumption; undefined where it was measured. */
  assumed: string | undefined
}

/** What a clock is found out with: who keeps the sweep of the last-level cache, and whether that is to be measured again. */
export interface ClockOptions {
  sweeps?: HostSweeps | undefined
  sweepAgain?: boolean
}

/** The last-level cache as it was measured now or at an earlier start, else an assumption. */
async function findLastLevel(gpu: Gpu, marks: Marks | undefined, { sweeps, sweepAgain = false }: ClockOptions = {}): Promise<LastLevel> {
  const assume = (reason: string, sweep: readonly ReadRate[] = []) => ({ bytes: assumedCacheBytes(gpu.software), sweep, assumed: reason })
  if (gpu.software) return assume('the adapter computes on the CPU')
  if (!marks) return assume('the adapter has no exact timestamps')
  const browser = /Chrome\/[\d.]+/.exec(navigator.userAgent)?.[0] ?? ''
  const { rates, measuredAt } = await keptSweep(`${browser} ${identityOf(wordsOf(gpu.adapter))}`, sweeps, sweepAgain, () => sweepReads(gpu, marks))
  const found = lastLevelBytes(rates)
  return { ...('bytes' in found ? { bytes: found.bytes, sweep: rates, assumed: undefined } : assume(found.reason, rates)), measuredAt }
}

export async function createClock(gpu: Gpu, options: ClockOptions = {}): Promise<Clock> {
  if (!gpu.device.features.has('timestamp-query')) {
    const cache = await findLastLevel(gpu, undefined)
    const flush = await createFlush(gpu, cache.bytes)
    return {
      timer: 'wall-clock', tickNs: wallTickNs(), quantized: false, passCostNs: undefined, cache, flushBytes: flush.bytes,
      forCase: (calls) => wallTimer(gpu, calls, flush),
    }
  }
  const marks = createMarks(gpu)
  const seen = await probe(gpu, marks)
  const written = seen.marks.filter((mark) => mark !== undefined)
  const quantized = isQuantized(written)
  // A processor that plays a device has other work than to keep itself awake.
  const backgroundLoad = gpu.software || quantized ? undefined : await createBackgroundLoad(gpu, marks)
  await backgroundLoad?.wake()
  const cache = await findLastLevel(gpu, quantized ? undefined : marks, options)
  const flush = await createFlush(gpu, cache.bytes)
  return {
    timer: 'timestamp-query',
    tickNs: quantized ? QUANTUM_NS : tickOf(written),
    quantized,
    passCostNs: quantized ? undefined : passCost(seen.passNs),
    cache,
    flushBytes: flush.bytes,
    forCase: (calls) => timestampTimer(gpu, marks, calls, flush, backgroundLoad),
  }
}
