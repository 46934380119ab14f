import type { Gpu } from '../gpu/gpu'
import { createUniform } from '../gpu/tensors'
import stirText from '../shaders/stir.wgsl?raw'
import { passTimes } from './arithmetic'
import type { Marks } from './marks'

/**
 * Keeps the device at work between timed passes. A page waits some milliseconds for every answer of its device; one that
 * rests meanwhile lets its clock fall to a third within seconds, and takes seconds of work to raise it again: small
 * kernels would be timed at a clock that no program runs them at.
 */
export interface BackgroundLoad {
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

export async function createBackgroundLoad(gpu: Gpu, marks: Marks): Promise<BackgroundLoad> {
  const { device } = gpu
  const pipeline = await gpu.pipeline(stirText)
  const result = device.createBuffer({ size: 128, usage: GPUBufferUsage.STORAGE, label: 'stir' })
  const settings = createUniform(gpu, new Uint32Array([TURNS, 0, 0, 0]))
  const bindings = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [result, settings].map((buffer, binding) => ({ binding, resource: { buffer } })) })
  const waking = new ClockWarmUp()
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

/** A device without work for so long, in ms, may have lowered its clock. */
const REST_MS = 30
/** Looks agree, and the clock is the best known, within this share. */
const ALIKE = 0.01
/** So many looks in a row that agree make a clock that changes no more, */
const STEADY_LOOKS = 4
/** once the device has worked for so long, in ms; where its best is known, and not reached, for longer. */
const PATIENCE_MS = { unknown: 300, known: 1000 }
/** A clock that never comes to rest is taken as it is, in ms. */
const LIMIT_MS = 2000

/** Decides when a device that rested is awake, from the times of a fixed piece of work that it is given meanwhile. */
export class ClockWarmUp {
  #best: number | undefined
  #workedUntilMs = -Infinity
  #fromMs = 0
  #steady: { ns: number; looks: number } | undefined

  /** Whether the device has had nothing to do for a while. */
  rested(nowMs: number): boolean {
    return nowMs - this.#workedUntilMs > REST_MS
  }

  /** The device has work until then. */
  worked(untilMs: number): void {
    this.#workedUntilMs = untilMs
  }

  begin(nowMs: number): void {
    this.#fromMs = nowMs
    this.#steady = undefined
  }

  /**
   * Whether the device is awake, now that the work took `ns`: as fast as it has ever been, or no longer becoming faster.
   * What it comes to is its best from then on: one that stays hot is not waited for again.
   */
  awake(ns: number, nowMs: number): boolean {
    this.#workedUntilMs = nowMs
    const best = this.#best
    if (best !== undefined && ns <= best * (1 + ALIKE)) {
      this.#best = Math.min(best, ns)
      return true
    }
    const steady = this.#steady
    this.#steady = steady && Math.abs(ns / steady.ns - 1) <= ALIKE ? { ns: steady.ns, looks: steady.looks + 1 } : { ns, looks: 1 }
    const spentMs = nowMs - this.#fromMs
    const patience = best === undefined ? PATIENCE_MS.unknown : PATIENCE_MS.known
    if (spentMs < LIMIT_MS && (spentMs < patience || this.#steady.looks < STEADY_LOOKS)) return false
    this.#best = ns
    return true
  }
}
