import type { Device, Impl } from '../../backend'
import { caseId, DTYPE_BYTES, type BenchmarkCase, type Dtype, type Mode, type Params } from '../../case'
import type { MeasureSettings } from '../../measure/settings'
import { ALL_OPS, findOp } from '../../ops/registry'
import type { Op } from '../../ops/types'
import { cacheKind, choiceKind, copySizeKind, flopsKind, launchKind, peerKind, READ_KIND, WRITE_KIND, type ProcessorChoice } from './kinds'
import { cacheCases, choicesOf, levelsOf, sameChoice, wholeChoice, type CeilingScope } from './processor'

/** Longest sampling of one ceiling, in seconds: a device has some twenty, and more time narrows few of them. */
const MAX_SECONDS = 4
/** On a processor, where each level and thread count has fifteen. A low quantile of the samples is taken (read.ts), so that noise is no reason to go on. */
const PROCESSOR = { relativeCi: 0.02, maxSeconds: 0.4, maxWarmupSeconds: 0.1, verifyWork: 5e7 } as const

/** The settings ceilings are measured with, those of a processor where the device has a choice of threads. */
export function ceilingSettings(standard: MeasureSettings, device?: Pick<Device, 'threads'>): MeasureSettings {
  if (device && device.threads.length > 0) return { ...standard, ...PROCESSOR, maxSeconds: Math.min(standard.maxSeconds, PROCESSOR.maxSeconds) }
  return { ...standard, maxSeconds: Math.min(standard.maxSeconds, MAX_SECONDS) }
}

/** A case to measure and the kind of ceiling it gives. */
export interface CeilingCase {
  kind: string
  case: BenchmarkCase
}

/** Working sets of copies in bytes, in and out together. The largest on a device is its copy bandwidth beyond the caches. */
const MIN_BEYOND_CACHES = 2 ** 29
/** A processor has caches of known sizes, and few threads take long to fill more. */
const MIN_BEYOND_CACHES_CPU = 2 ** 27
const MAX_BEYOND_CACHES = 2 ** 33
const CURVE_FROM = 2 ** 15
/** A copy this many times the last cache leaves next to nothing of itself there. */
const BEYOND = 4

/** Steps of the curve of copies: every octave, on a processor every other one. */
const curveStep = (device: Device) => (device.threads.length > 0 ? 4 : 2)

/** Emulated devices only need figures for their own charts, and are slow. */
const SOFTWARE_LARGEST = 2 ** 25
const SOFTWARE_CURVE = [2 ** 18, 2 ** 22] as const

/** Modes in which a launch is timed by itself; rotating over more buffers changes nothing about one element. */
const LAUNCH_MODES: readonly Mode[] = ['hot', 'graph', 'cold']

/** Work of one peak-rate call: long against a launch, short against a second, for each sort of device. */
function peakParams(op: Op, device: Device, threads = device.threads.at(-1)): Params {
  if (op.id === 'peak_mma' && (device.software || threads === undefined)) return device.software ? { n: 64, iterations: 16 } : { n: 2 ** 14, iterations: 1024 }
  if (device.software) return { n: 2 ** 14, iterations: 64 }
  // Half a millisecond or less of a few cores: a longer call is interrupted each time where other programs share them.
  if (op.id === 'peak_mma') return { n: 2 ** 8, iterations: Math.min(1024, 16 * threads!) }
  return threads === undefined ? { n: 2 ** 20, iterations: 1024 } : { n: 2 ** 16, iterations: Math.min(1024, 64 * threads) }
}

/** The implementation that stands for the device: the preferred one that has the kernel, else the last (fastest) listed. */
function bestImpl(device: Device, op: string, dtype: Dtype): Impl | undefined {
  const able = device.impls.filter((impl) => impl.available.ok && !PEER.test(impl.id) && impl.kernels[op]?.includes(dtype))
  return able.find((impl) => impl.preferred) ?? able.at(-1)
}

function caseOf(device: Device, op: string, params: Params, dtype: Dtype, mode: Mode | undefined, choice?: ProcessorChoice): BenchmarkCase | undefined {
  const impl = choice ? device.impls.find(({ id, kernels }) => id === choice.impl && kernels[op]?.includes(dtype)) : bestImpl(device, op, dtype)
  if (!impl || !mode) return undefined
  const c: BenchmarkCase = { op, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode }
  const threads = choice?.threads ?? device.threads.at(-1)
  if (threads !== undefined) c.threads = threads
  return c
}

const copyOf = (device: Device, bytes: number, mode: Mode | undefined, choice?: ProcessorChoice) => caseOf(device, 'copy', { n: bytes / (2 * DTYPE_BYTES.f32) }, 'f32', mode, choice)

const fits = (device: Device, bytes: number) => bytes <= device.memoryBytes && bytes / 2 <= (device.maxTensorBytes ?? Infinity)

/** Working set of the copy beyond the caches: the least power of two that is, or the largest that the device can hold. */
function largestCopy(device: Device): number | undefined {
  const last = Math.max(0, ...(device.caches ?? []).map((cache) => cache.bytes))
  let bytes = device.software ? SOFTWARE_LARGEST : device.threads.length > 0 ? MIN_BEYOND_CACHES_CPU : MIN_BEYOND_CACHES
  while (!device.software && bytes < BEYOND * last && bytes < MAX_BEYOND_CACHES) bytes *= 2
  while (bytes >= CURVE_FROM && !fits(device, bytes)) bytes /= 2
  return bytes >= CURVE_FROM ? bytes : undefined
}

function copies(device: Device, mode: Mode | undefined): (CeilingCase | undefined)[] {
  const largest = largestCopy(device)
  if (largest === undefined) return []
  const curve = device.software ? SOFTWARE_CURVE.filter((bytes) => bytes < largest) : Array.from({ length: Math.ceil(Math.log2(largest / CURVE_FROM) / Math.log2(curveStep(device))) }, (_, i) => CURVE_FROM * curveStep(device) ** i)
  return [named('copy', copyOf(device, largest, mode)), ...curve.map((bytes) => named(copySizeKind(bytes), copyOf(device, bytes, mode)))]
}

/** Sums of rows this long read next to everything that they move. */
const READ_COLUMNS = 4096
const readOf = (device: Device, bytes: number, mode: Mode | undefined, choice?: ProcessorChoice) =>
  bytes / DTYPE_BYTES.f32 < READ_COLUMNS ? undefined : caseOf(device, 'sum', { rows: bytes / DTYPE_BYTES.f32 / READ_COLUMNS, cols: READ_COLUMNS, axis: 'last' }, 'f32', mode, choice)

/** The op that writes and reads nothing. */
const WRITE_OP = 'fill'
const writeOf = (device: Device, bytes: number, mode: Mode | undefined, choice?: ProcessorChoice) => caseOf(device, WRITE_OP, { n: bytes / DTYPE_BYTES.f32 }, 'f32', mode, choice)

/** Reads and writes have the copy's working set in one tensor, or half of it where the device holds no tensor so large. */
function alone(device: Device, mode: Mode | undefined, choice?: ProcessorChoice): (CeilingCase | undefined)[] {
  const largest = largestCopy(device)
  if (largest === undefined) return []
  const bytes = largest <= (device.maxTensorBytes ?? Infinity) ? largest : largest / 2
  return [named(READ_KIND, readOf(device, bytes, mode, choice)), named(WRITE_KIND, writeOf(device, bytes, mode, choice))]
}

/** Implementations of `copy` that go to another GPU and back: `peer-1` to the one that is called `cuda:1` here. */
const PEER = /^peer-(\d+)$/
/** Working set of such a copy: far beyond what a link needs to be busy. */
const PEER_BYTES = 2 ** 29

function peers(device: Device, mode: Mode | undefined): (CeilingCase | undefined)[] {
  if (!mode || !fits(device, PEER_BYTES)) return []
  return device.impls.flatMap(({ id, available }) => {
    const peer = PEER.exec(id)?.[1]
    return peer !== undefined && available.ok ? [{ kind: peerKind(`${device.id.slice(0, device.id.lastIndexOf(':'))}:${peer}`), case: { op: 'copy', params: { n: PEER_BYTES / (2 * DTYPE_BYTES.f32) }, dtype: 'f32' as const, backend: device.backend, impl: id, device: device.id, mode } }] : []
  })
}

const named = (kind: string, c: BenchmarkCase | undefined): CeilingCase | undefined => c && { kind, case: c }

/** Passes over each cache that this choice reaches. */
const caches = (device: Device, mode: Mode | undefined, choice: ProcessorChoice): (CeilingCase | undefined)[] =>
  cacheCases(device, choice.threads).map(({ name, access, op, params }) => named(cacheKind(name, access), caseOf(device, op, params, 'f32', mode, choice)))

const PEAK_OPS = ALL_OPS.filter(({ family, id }) => family === 'ceiling' && id.startsWith('peak_'))

/** What the caches, the memory and the arithmetic of a processor give one level on so many threads. */
function planOf(device: Device, mode: Mode | undefined, choice: ProcessorChoice): CeilingCase[] {
  const largest = largestCopy(device)
  const plan = [
    largest === undefined ? undefined : named('copy', copyOf(device, largest, mode, choice)), ...alone(device, mode, choice),
    ...PEAK_OPS.flatMap((op) => op.dtypes.map((dtype) => named(flopsKind(dtype), caseOf(device, op.id, peakParams(op, device, choice.threads), dtype, mode, choice)))),
    named(launchKind('hot'), device.modes.includes('hot') ? caseOf(device, 'copy', { n: 1 }, 'f32', 'hot', choice) : undefined), ...caches(device, mode, choice),
  ]
  return plan.flatMap((planned) => (planned ? [{ ...planned, kind: choiceKind(planned.kind, choice) }] : []))
}

/** What to measure for the ceilings of the whole device, the roofs of the roofline first. */
function wholePlan(device: Device, mode: Mode | undefined): CeilingCase[] {
  const [beyond, ...curve] = copies(device, mode)
  const whole = wholeChoice(device)
  const peaks = PEAK_OPS.flatMap((op) => op.dtypes.map((dtype) => named(flopsKind(dtype), caseOf(device, op.id, peakParams(op, device), dtype, mode))))
  const launches = LAUNCH_MODES.filter((m) => device.modes.includes(m)).map((m) => named(launchKind(m), caseOf(device, 'copy', { n: 1 }, 'f32', m)))
  return [beyond, ...alone(device, mode), ...peers(device, mode), ...peaks, ...launches, ...(whole ? caches(device, mode, whole) : []), ...curve].filter((planned): planned is CeilingCase => planned !== undefined)
}

const modeOf = (device: Device) => (device.modes.includes('hot') ? 'hot' : device.modes[0])

/**
 * What to measure for a device's ceilings: those of the whole device, and on a processor those of the choices of a scope. Empty for a device
 * that is not available, and for one whose hardware another one measures.
 */
export function ceilingPlan(device: Device, scope: CeilingScope = {}): CeilingCase[] {
  if (!device.available.ok || device.sameHardwareAs) return []
  const mode = modeOf(device)
  const whole = wholeChoice(device)
  const asked = !scope.only || (scope.choices ?? []).some((choice) => sameChoice(choice, whole))
  return [...(asked ? wholePlan(device, mode) : []), ...choicesOf(device, scope).flatMap((choice) => planOf(device, mode, choice))]
}

/**
 * The cases that measure a device's limits: with all threads a copy, a read and a write beyond the caches, and copies of smaller
 * working sets, every peak-rate op the device has a kernel for in each dtype, and a copy of one element in each mode; on a processor
 * reads, writes and copies within each cache too, and the same for other levels and thread counts.
 */
export const ceilingCases = (device: Device, scope?: CeilingScope): BenchmarkCase[] => ceilingPlan(device, scope).map((planned) => planned.case)

/** The kind of ceiling that this very case measures on the device; undefined for any other, a user's own copy included. */
export function kindOfCase(device: Device, c: BenchmarkCase): string | undefined {
  // Saves the plan for most results.
  if (c.op !== 'copy' && c.op !== 'sum' && findOp(c.op)?.family !== 'ceiling') return undefined
  const id = caseId(c)
  if (!device.available.ok || device.sameHardwareAs) return undefined
  const choice = c.threads !== undefined && levelsOf(device).includes(c.impl) ? { impl: c.impl, threads: c.threads } : undefined
  const plan = !choice || sameChoice(choice, wholeChoice(device)) ? wholePlan(device, modeOf(device)) : [...wholePlan(device, modeOf(device)), ...planOf(device, modeOf(device), choice)]
  return plan.find((planned) => caseId(planned.case) === id)?.kind
}
