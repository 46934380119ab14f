import type { BenchmarkCase, Dtype } from '../case'
import type { Ceiling } from '../session/types'
import { launchKind } from './ceilings/kinds'

/** Measured limits of one device for one dtype. What was not measured is absent. */
export interface Roofs {
  bytesPerSecond?: number
  flopsPerSecond?: number
  /** Time of a call that does next to nothing, in the mode of the case. */
  launchSeconds?: number
}

/** memory, compute: which roof is the lower at this intensity. latency: fixed costs outweigh both. */
export type Bound = 'memory' | 'compute' | 'latency'

/** Where a measured case stands under its device's roofs (Williams, Waterman & Patterson 2009). */
export interface RooflinePoint {
  /** FLOP per byte of least traffic; absent when the op computes nothing or moves nothing. */
  intensity?: number
  bytesPerSecond: number
  flopsPerSecond: number
  /** min(intensity * copy bandwidth, peak), in FLOP/s. */
  attainableFlops?: number
  bound?: Bound
  /** Share of the binding roof that was reached: the time the roof would allow over the median. */
  efficiency?: number
  /** Why a share above 100 % is no error, or what to suspect; absent when the share is not above it. */
  flag?: string
}

/** Where launches have not been measured: below this much roof time per call, launching, threads and loop set-up can outweigh the work. In ns. */
const SHORT_NS = 5000
/** Such a short case counts as latency bound when it takes longer than this many times its roof time. */
const LATENCY_FACTOR = 4

/**
 * The roofs of a device; a dtype without a peak of its own computes at the f32 rate, because kernels accumulate in f32.
 * With a mode, also what a call costs in it; rotated calls are launched as hot ones are.
 */
export function roofsOf(ceilings: readonly Ceiling[], on: Pick<BenchmarkCase, 'backend' | 'device'> & Partial<Pick<BenchmarkCase, 'mode'>>, dtype: Dtype): Roofs {
  const value = (kind: string) => ceilings.find((c) => c.backend === on.backend && c.device === on.device && c.kind === kind)?.value
  const roofs: Roofs = {}
  const copy = value('copy')
  const peak = value(`flops:${dtype}`) ?? value('flops:f32')
  if (copy !== undefined) roofs.bytesPerSecond = copy
  if (peak !== undefined) roofs.flopsPerSecond = peak
  const launch = on.mode && value(launchKind(on.mode === 'rotated' ? 'hot' : on.mode))
  if (launch !== undefined) roofs.launchSeconds = launch
  return roofs
}

/** FLOP/s that the roofs allow at an intensity in FLOP per byte; undefined where no roof applies. */
export function attainableFlops(roofs: Roofs, intensity: number): number | undefined {
  const limits = [roofs.bytesPerSecond === undefined ? undefined : roofs.bytesPerSecond * intensity, roofs.flopsPerSecond].filter((v): v is number => v !== undefined)
  return limits.length ? Math.min(...limits) : undefined
}

/** Rates, class and efficiency of one case. `bytes` and `flops` per call from the op's cost model, `medianNs` per call. */
export function roofline(measured: { bytes: number; flops: number; medianNs: number }, roofs: Roofs): RooflinePoint | undefined {
  const { bytes, flops, medianNs } = measured
  if (!(medianNs > 0)) return undefined
  const point: RooflinePoint = { bytesPerSecond: (bytes / medianNs) * 1e9, flopsPerSecond: (flops / medianNs) * 1e9 }
  if (bytes > 0 && flops > 0) {
    point.intensity = flops / bytes
    const attainable = attainableFlops(roofs, point.intensity)
    if (attainable !== undefined) point.attainableFlops = attainable
  }
  const memoryNs = roofs.bytesPerSecond === undefined || bytes === 0 ? undefined : (bytes / roofs.bytesPerSecond) * 1e9
  const computeNs = roofs.flopsPerSecond === undefined || flops === 0 ? undefined : (flops / roofs.flopsPerSecond) * 1e9
  if (memoryNs === undefined && computeNs === undefined) return point
  const roofNs = Math.max(memoryNs ?? 0, computeNs ?? 0)
  point.efficiency = roofNs / medianNs
  // With one roof unknown the other is no class, only a share.
  const known = (memoryNs !== undefined || bytes === 0) && (computeNs !== undefined || flops === 0)
  // Measured, a launch that takes longer than the roof allows the work is what binds; else its size is a guess.
  const launchNs = roofs.launchSeconds === undefined ? undefined : roofs.launchSeconds * 1e9
  const latency = launchNs === undefined ? roofNs < SHORT_NS && medianNs > LATENCY_FACTOR * roofNs : roofNs < launchNs && medianNs > roofNs
  if (latency) point.bound = 'latency'
  else if (known) point.bound = (memoryNs ?? 0) >= (computeNs ?? 0) ? 'memory' : 'compute'
  if (point.efficiency > 1) {
    point.flag =
      (memoryNs ?? 0) >= (computeNs ?? 0)
        ? 'Above the measured copy bandwidth: the data may stay in a cache between calls, or the ceiling was measured too low.'
        : 'Above the measured peak rate: the ceiling was measured too low, or the case did not do all of its work.'
  }
  return point
}
