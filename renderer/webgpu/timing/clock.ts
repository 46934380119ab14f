import type { Timer } from '@core/backend'
import type { Gpu } from '../gpu/gpu'
import { isQuantized, passCost, passTimes, QUANTUM_NS, tickOf, type Mark, type PassNs } from './arithmetic'
import type { Calls, CaseTimer } from './calls'
import { createFlush } from './flush'
import { createMarks, type Marks } from './marks'
import { createBackgroundLoad } from './background-load'
import { timestampTimer } from './timestamps'
import { wallTickNs, wallTimer } from './wall'

/** How this device tells time, found out once. */
export interface Clock {
  timer: Timer
  /** Smallest time difference it can show, in ns. */
  tickNs: number
  quantized: boolean
  /** What a compute pass costs beside its calls, in ns; undefined where it could not be measured. */
  passCostNs: number | undefined
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

export async function createClock(gpu: Gpu): Promise<Clock> {
  const flush = await createFlush(gpu)
  if (!gpu.device.features.has('timestamp-query')) {
    return {
      timer: 'wall-clock', tickNs: wallTickNs(), quantized: false, passCostNs: undefined, flushBytes: flush.bytes,
      forCase: (calls) => wallTimer(gpu, calls, flush),
    }
  }
  const marks = createMarks(gpu)
  const seen = await probe(gpu, marks)
  const written = seen.marks.filter((mark) => mark !== undefined)
  const quantized = isQuantized(written)
  // A processor that plays a device has other work than to keep itself awake.
  const stirrer = gpu.software || quantized ? undefined : await createBackgroundLoad(gpu, marks)
  return {
    timer: 'timestamp-query',
    tickNs: quantized ? QUANTUM_NS : tickOf(written),
    quantized,
    passCostNs: quantized ? undefined : passCost(seen.passNs),
    flushBytes: flush.bytes,
    forCase: (calls) => timestampTimer(gpu, marks, calls, flush, stirrer),
  }
}
