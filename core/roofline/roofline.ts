import type { BenchmarkCase } from '../case'
import { trafficOf } from '../ops/define'
import { findOp } from '../ops/registry'
import type { Ceiling } from '../session/types'
import { formatHalfWidth } from '../units'
import { ceilingFinder, cacheOf } from './ceilings/choose'
import { cacheKind, flopsKind, launchKind, READ_KIND, WRITE_KIND } from './ceilings/kinds'
import { ceilingError, isUsable } from './ceilings/usable'

/** Measured limits of one device for cases like one. What was not measured is absent. */
export interface Roofs {
  /** For what the case reads and writes: that of a copy for as many bytes of either, that of reading or writing alone for the rest. */
  bytesPerSecond?: number
  /** Of the unit that does most of the arithmetic. */
  flopsPerSecond?: number
  /** Time of a call that does next to nothing, in the mode of the case. */
  launchSeconds?: number
  /** The cache whose bandwidth `bytesPerSecond` is, where the data of back-to-back calls stays in it; absent: that of memory. */
  cache?: string
  /** Half the 95 % CI of the copy ceiling and of the peak, as fractions. */
  bandwidthError?: number
  peakError?: number
}

/** memory, compute: which roof is the lower at this intensity. latency: fixed costs outweigh both. */
export type Bound = 'memory' | 'compute' | 'latency'

/** Where a measured case stands under its device's roofs (Williams, Waterman & Patterson 2009). */
export interface RooflinePoint {
  /** FLOP per byte of minimum memory traffic; absent when the op computes nothing or moves nothing. */
  intensity?: number
  bytesPerSecond: number
  flopsPerSecond: number
  /** min(intensity * memory bandwidth, peak), in FLOP/s. */
  attainableFlops?: number
  bound?: Bound
  /** Share of the binding roof that was reached: the time the roof would allow over the median. */
  efficiency?: number
  /** Half the 95 % CI of the binding roof as a fraction, where it is above MAX_ROOF_ERROR: the efficiency is uncertain. */
  uncertain?: number
  /** Why a share above 100 % is no error, or what to suspect; absent when the share is not above it. */
  flag?: string
}

/** Where launches have not been measured: below this much roof time per call, launching, threads and loop set-up can outweigh the work. In ns. */
const SHORT_NS = 5000
/** Widest ceiling, as half its 95 % CI over its value, whose efficiencies need no mark. */
export const MAX_ROOF_ERROR = 0.05
/** Such a short case counts as latency bound when it takes longer than this many times its roof time. */
const LATENCY_FACTOR = 4

/**
 * The kind of ceiling that a case's arithmetic is held against: the peak of its dtype where matrix units do it, else the rate
 * of f32 multiply-adds, in which kernels accumulate whatever the dtype. That rate bounds special functions too, which no
 * device computes faster.
 */
export const peakKindOf = (c: Pick<BenchmarkCase, 'op' | 'dtype'>): string => flopsKind(findOp(c.op)?.unit(c.dtype) === 'matrix' ? c.dtype : 'f32')

/** A case's minimum memory traffic in bytes and the share of it that is read; that of a copy where the op is not known. */
function trafficShare(c: Pick<BenchmarkCase, 'op' | 'params' | 'dtype'>): { readShare: number; bytes: number } {
  const op = findOp(c.op)
  const params = op?.params.safeParse(c.params)
  if (!op || !params?.success) return { readShare: COPY_SHARE, bytes: Infinity }
  const { readBytes, writtenBytes } = trafficOf(op, params.data, c.dtype)
  const bytes = readBytes + writtenBytes
  return { readShare: bytes > 0 ? readBytes / bytes : COPY_SHARE, bytes }
}

const COPY_SHARE = 0.5

/**
 * Bandwidth for traffic of which this share is read. As many bytes of reading as of writing move at the rate of a copy; what one
 * side has beyond the other moves at the rate of reading or writing alone. A read slower than a copy is limited by its kernel,
 * not by the memory, so the copy's rate holds. Writes alone can be slower; the copy bounds them below, since half of it is writes.
 */
function bandwidthFor(readShare: number, copy: number | undefined, read: number | undefined, write: number | undefined): number | undefined {
  if (copy === undefined) return undefined
  const excess = 2 * (readShare - COPY_SHARE)
  const alone = excess > 0 ? Math.max(read ?? 0, copy) : Math.max(write ?? copy, copy / 2)
  return 1 / ((1 - Math.abs(excess)) / copy + Math.abs(excess) / alone)
}

/**
 * The roofs of a case on its device; on a processor those of its level and thread count, as far as they were measured, and of the cache
 * that holds the data of back-to-back calls. Ceilings that are too uncertain bound nothing. Rotated calls are launched as hot ones are.
 */
export function roofsOf(ceilings: readonly Ceiling[], c: BenchmarkCase): Roofs {
  const known = ceilingFinder(ceilings, c)
  const find = (kind: string) => {
    const found = known(kind)
    return found && isUsable(found) ? found : undefined
  }
  const value = (kind: string) => find(kind)?.value
  const roofs: Roofs = {}
  const { readShare, bytes } = trafficShare(c)
  const cache = c.mode === 'hot' ? cacheOf(ceilings, c, bytes) : undefined
  const [copy, read, write] = cache === undefined ? ['copy', READ_KIND, WRITE_KIND] as const : [cacheKind(cache), cacheKind(cache, 'read'), cacheKind(cache, 'write')] as const
  const bandwidth = bandwidthFor(readShare, value(copy), value(read), value(write))
  const peakCeiling = find(peakKindOf(c)) ?? find(flopsKind('f32'))
  const peak = peakCeiling?.value
  const copyCeiling = find(copy)
  const [bandwidthError, peakError] = [copyCeiling && ceilingError(copyCeiling), peakCeiling && ceilingError(peakCeiling)]
  const launch = value(launchKind(c.mode === 'rotated' ? 'hot' : c.mode))
  if (bandwidth !== undefined) roofs.bytesPerSecond = bandwidth
  if (cache !== undefined) roofs.cache = cache
  if (peak !== undefined) roofs.flopsPerSecond = peak
  if (launch !== undefined) roofs.launchSeconds = launch
  if (bandwidthError !== undefined) roofs.bandwidthError = bandwidthError
  if (peakError !== undefined) roofs.peakError = peakError
  return roofs
}

/** The remark on an efficiency whose ceiling is uncertain. */
export const uncertainText = (error: number): string => `Uncertain: the measured ceiling behind this efficiency has a 95 % CI of ${formatHalfWidth(error)}. Measure the ceilings again.`

/** As `roofsOf`, looked up once for cases that have the same: for tables and charts of many. */
export function roofFinder(ceilings: readonly Ceiling[]): (c: BenchmarkCase) => Roofs {
  const known = new Map<string, Roofs>()
  return (c) => {
    const key = [c.backend, c.device, c.impl, c.threads, c.mode, c.op, c.dtype, ...Object.entries(c.params).flat()].join('|')
    const roofs = known.get(key) ?? roofsOf(ceilings, c)
    known.set(key, roofs)
    return roofs
  }
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
  const error = (memoryNs ?? 0) >= (computeNs ?? 0) ? roofs.bandwidthError : roofs.peakError
  if (error !== undefined && error > MAX_ROOF_ERROR) point.uncertain = error
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
        ? roofs.cache === undefined
          ? 'Above the measured memory bandwidth: the data may stay in a cache between calls, or the ceiling was measured too low.'
          : `Above the measured ${roofs.cache} bandwidth: a part of the data may stay in a smaller cache between calls, or the ceiling was measured too low.`
        : 'Above the measured peak rate: the ceiling was measured too low, the implementation needs fewer operations than the definition that is counted (Winograd convolutions do), or the case did not do all of its work.'
  }
  return point
}
