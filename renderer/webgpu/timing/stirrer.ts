import stirText from '../shaders/stir.wgsl?raw'
import { createUniform } from '../gpu/tensors'
import type { Gpu } from '../gpu/gpu'
import { passTimes } from './arithmetic'
import type { Marks } from './marks'
import { Waking } from './waking'

/**
 * Keeps the device at work between timed passes. A page waits some milliseconds for every answer of its device; one that
 * rests meanwhile lets its clock fall to a third within seconds, and takes seconds of work to raise it again: small
 * kernels would be timed at a clock that no program runs them at.
 */
export interface Stirrer {
  /** Brings a device that has rested to its working clock; returns at once where it has not. */
  wake(): Promise<void>
  /** Queues work that bridges the time until the next submission. Call right after one. */
  bridge(): void
}

/** Multiply-adds of one stir: 64 in each turn, some 0.3 ms at usual clocks. */
const TURNS = 2048
/** What is queued behind a submission, in ns: the way back to the page and to the next submission takes about as long. */
const BRIDGE_NS = 3e6
/** One look at the clock while waking, in ns. */
const LOOK_NS = 2e6

export async function createStirrer(gpu: Gpu, marks: Marks): Promise<Stirrer> {
  const { device } = gpu
  const pipeline = await gpu.pipeline(stirText)
  const result = device.createBuffer({ size: 128, usage: GPUBufferUsage.STORAGE, label: 'stir' })
  const settings = createUniform(gpu, new Uint32Array([TURNS, 0, 0, 0]))
  const bindings = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [result, settings].map((buffer, binding) => ({ binding, resource: { buffer } })) })
  const waking = new Waking()
  let stirNs = 3e5

  // Every stir writes the same buffer, so they run one after the other.
  const encode = (pass: GPUComputePassEncoder, ns: number) => {
    const stirs = Math.max(1, Math.round(ns / stirNs))
    pass.setPipeline(pipeline)
    pass.setBindGroup(0, bindings)
    for (let i = 0; i < stirs; i++) pass.dispatchWorkgroups(1)
    return stirs
  }

  /** Time of one stir now, in ns; undefined where the marks make no sense. */
  async function look(): Promise<number | undefined> {
    const lane = marks.lane()
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass({ timestampWrites: lane.on(0) })
    const stirs = encode(pass, LOOK_NS)
    pass.end()
    const [ns] = passTimes(await lane.submit(encoder, 1))
    return ns === undefined || ns === 0 ? undefined : ns / stirs
  }

  return {
    async wake() {
      if (!waking.rested(performance.now())) return
      waking.begin(performance.now())
      do {
        const ns = await look()
        if (ns === undefined) return
        stirNs = ns
      } while (!waking.awake(stirNs, performance.now()))
    },
    bridge() {
      const encoder = device.createCommandEncoder()
      const pass = encoder.beginComputePass()
      encode(pass, BRIDGE_NS)
      pass.end()
      device.queue.submit([encoder.finish()])
      waking.worked(performance.now() + BRIDGE_NS / 1e6)
    },
  }
}
