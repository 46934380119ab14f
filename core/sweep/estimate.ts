import type { Device } from '../backend'
import type { BenchmarkCase } from '../case'
import { MIN_PASSES, passSeconds, takesRounds } from '../measure/result/rounds'
import type { MeasureSettings } from '../measure/settings'
import { wholeCost } from '../measure/verify/plan'
import { SAMPLES_PER_MINIMUM } from '../measure/sampling/warm-up'
import { outputsOf } from '../ops/define'
import { findOp } from '../ops/registry'
import { isUsable, launchKind } from '../roofline/ceilings'
import { peakKindOf } from '../roofline/roofline'
import { processorOf } from '../session/environment'
import { competitors, workKey } from '../session/noisy-host'
import type { Ceiling } from '../session/types'

/** What an estimate assumes of a device. bytes/s, FLOP/s and seconds. */
interface Rates {
  bytesPerSecond: number
  flopsPerSecond: number
  /** Of one call, whatever its size. */
  callSeconds: number
  /** Opening a case, filling its inputs per byte, and flushing the caches before a cold call. */
  openSeconds: number
  fillSecondsPerByte: number
  flushSeconds: number
}

/** Round figures for a device that has not been measured: a few cores, or a mid-range GPU. */
const PROCESSOR: Rates = { bytesPerSecond: 1e10, flopsPerSecond: 2e10, callSeconds: 1e-6, openSeconds: 0.01, fillSecondsPerByte: 1e-9, flushSeconds: 0.01 }
const ACCELERATOR: Rates = { bytesPerSecond: 5e11, flopsPerSecond: 5e12, callSeconds: 1e-5, openSeconds: 0.03, fillSecondsPerByte: 1e-11, flushSeconds: 1e-4 }
/** A GPU emulated on the CPU compiles every shader for about a second, and barriers in a workgroup cost it most of its time. */
const EMULATED: Rates = { bytesPerSecond: 5e8, flopsPerSecond: 3e8, callSeconds: 2e-3, openSeconds: 1, fillSecondsPerByte: 1e-8, flushSeconds: 0.02 }
/** What opening a case in another program's process takes more: its libraries are imported now and then, and it makes a call to get ready. */
const ELSEWHERE_SECONDS = 0.5
/** A call through an interpreter. */
const INTERPRETED_SECONDS = 5e-6

/** Work units of verification (core/measure/verify/plan.ts) per second of a thread. */
const VERIFY_UNITS_PER_SECOND = 1e9
/** Kernels seldom reach a ceiling, least of all for small sizes. */
const TYPICAL_SHARE = 0.3
/** How much longer than the least a case samples until its interval is narrow enough, as a rule. */
const CONVERGENCE = 3

/** Devices without a choice of threads are accelerators; `devices` tells the emulated ones from the rest. */
function ratesOf(c: BenchmarkCase, ceilings: readonly Ceiling[], devices: readonly Device[]): Rates {
  const on = devices.find((device) => device.backend === c.backend && device.id === c.device)
  // What an emulated device reaches in a copy or a chain of multiply-adds is far from what its kernels do.
  if (on?.software) return EMULATED
  const hardware = c.threads === undefined ? ACCELERATOR : PROCESSOR
  const base = on?.interpreter ? { ...hardware, openSeconds: hardware.openSeconds + ELSEWHERE_SECONDS, callSeconds: Math.max(hardware.callSeconds, INTERPRETED_SECONDS) } : hardware
  const measured = on?.sameHardwareAs ?? { backend: c.backend, id: c.device }
  // There may be one of each driver; the newest is nearest to today's.
  const value = (kind: string) =>
    ceilings.reduce<Ceiling | undefined>((last, ceiling) => {
      const fits = ceiling.backend === measured.backend && ceiling.device === measured.id && ceiling.kind === kind && isUsable(ceiling)
      return fits && !(last && last.measuredAt >= ceiling.measuredAt) ? ceiling : last
    }, undefined)?.value
  const launch = value(launchKind(c.mode === 'rotated' ? 'hot' : c.mode)) ?? base.callSeconds
  const callSeconds = on?.interpreter ? Math.max(launch, base.callSeconds) : launch
  return { ...base, callSeconds, bytesPerSecond: value('copy') ?? base.bytesPerSecond, flopsPerSecond: value(peakKindOf(c)) ?? value('flops:f32') ?? base.flopsPerSecond }
}

/** Whether the device of a case has an energy counter, as far as that is known: without one no energy is measured. */
function countsEnergy(c: BenchmarkCase, devices: readonly Device[]): boolean {
  const on = devices.find((device) => device.backend === c.backend && device.id === c.device)
  return on === undefined || (on.energyCounter !== false && !on.software)
}

/** Expected wall time of one case in seconds: open and fill, verify twice, warm up, sample; at the pace of such cases on this machine (Device.paces). */
export function estimateCaseSeconds(c: BenchmarkCase, settings: MeasureSettings, ceilings: readonly Ceiling[] = [], devices: readonly Device[] = []): number {
  const on = devices.find((device) => device.backend === c.backend && device.id === c.device)
  return plainSeconds(c, settings, ceilings, devices) * paceFor(on?.paces, c, settings)
}

/** The devices, each with how long its cases took in `took` (newest first) against what is estimated of them. */
export function withPaces(devices: readonly Device[], took: readonly Took[], ceilings: readonly Ceiling[]): Device[] {
  return devices.map((device) => {
    const own = took.filter((one) => one.case.backend === device.backend && one.case.device === device.id && one.deviceName === device.name)
    return own.length === 0 ? device : { ...device, paces: pacesOf(own, (one) => plainSeconds(one.case, one.settings, ceilings, devices)) }
  })
}

function plainSeconds(c: BenchmarkCase, settings: MeasureSettings, ceilings: readonly Ceiling[], devices: readonly Device[]): number {
  const rates = ratesOf(c, ceilings, devices)
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (!op || !parsed?.success) return rates.openSeconds
  const p = parsed.data
  const bytes = op.bytes(p, c.dtype)
  const call = rates.callSeconds + Math.max(bytes / rates.bytesPerSecond, op.flops(p) / rates.flopsPerSecond) / TYPICAL_SHARE
  const flush = c.mode === 'cold' ? rates.flushSeconds : 0
  const work = outputsOf(op, p, c.dtype).reduce((sum, { elements }, output) => sum + elements * wholeCost(op, p, output), 0)
  const verify = (2 * Math.min(settings.verifyWork, work)) / VERIFY_UNITS_PER_SECOND
  const warmUp = Math.min(settings.maxWarmupSeconds, Math.max(0.03, 10 * call))
  const open = rates.openSeconds + bytes * rates.fillSecondsPerByte
  const sampling = takesRounds(settings) && processorOf(c.device) === 'cpu' ? roundsSeconds(settings, call, flush, open) : samplingSeconds(settings, call, flush, c.mode === 'cold')
  return open + verify + warmUp + sampling + (settings.energy && countsEnergy(c, devices) ? ENERGY_SECONDS : 0)
}

/** Passes that rounds take as a rule. */
const USUAL_PASSES = MIN_PASSES + 2
/** What a pass takes of each implementation at least, in calls and in seconds: calls before the samples, a few rounds, a check of the output. */
const PASS_CALLS = 6
const PASS_LONG_CALLS = 3
const LONG_CALL_SECONDS = 0.05
const PASS_OVERHEAD_SECONDS = 0.01

/** Wall time of one implementation in interleaved rounds (core/measure/rounds.ts); its memory is opened with that of the others, or kept. */
const roundsSeconds = (settings: MeasureSettings, call: number, flush: number, open: number): number =>
  USUAL_PASSES * (Math.max(passSeconds(settings, 1), (call + flush) * (call < LONG_CALL_SECONDS ? PASS_CALLS : PASS_LONG_CALLS)) + PASS_OVERHEAD_SECONDS + Math.min(open, PASS_OVERHEAD_SECONDS))

/** A steady load for the windows, before them and after them (core/measure/energy). */
const ENERGY_SECONDS = 13.2

/** Wall time of sampling by the rule of the settings, for calls and flushes of so many seconds. */
function samplingSeconds(settings: MeasureSettings, call: number, flush: number, single: boolean): number {
  const { rule, minSeconds, minSamples, maxSeconds } = settings
  if (rule?.id === 'fixed-time') return Math.max(Math.min(rule.seconds, maxSeconds), 2 * (call + flush))
  // A sample of short calls has many of them; cold ones stand alone.
  if (rule?.id === 'fixed-count') return Math.min(maxSeconds, rule.count * (single ? call + flush : Math.max(call, minSeconds / SAMPLES_PER_MINIMUM)))
  const each = call + flush
  return Math.max(Math.min(maxSeconds, Math.max(minSeconds, minSamples * each) * CONVERGENCE), minSamples * each)
}

/** Expected wall time of a run over these cases, in seconds: one after the other, or in rounds where the settings say so and a case has a rival. */
export function estimateSeconds(cases: readonly BenchmarkCase[], settings: MeasureSettings, ceilings: readonly Ceiling[] = [], devices: readonly Device[] = []): number {
  const rivals = takesRounds(settings) ? competitors(cases) : undefined
  const alone = { ...settings, rounds: false }
  return cases.reduce((sum, c) => sum + estimateCaseSeconds(c, (rivals?.get(workKey(c))?.length ?? 2) > 1 ? settings : alone, ceilings, devices), 0)
}

/** What one case took on this machine, whole: opening, filling, compiling, verifying, warming up and sampling. */
export interface Took {
  case: BenchmarkCase
  /** Of the device that the case names, as it was then. */
  deviceName: string
  settings: MeasureSettings
  wallSeconds: number
}

/**
 * How many times as long as estimated cases of a device took, by what they have in common: keys of `keysOf`. The estimate
 * knows the parts of a case and how they grow; what they really take on this machine, with its compilers, libraries and
 * verification, only its history says.
 */
export type Paces = Readonly<Record<string, number>>

/** The newest of a kind that count: what a machine took long ago it may not take any more. */
const NEWEST = 10

/** What cases have in common whose times are alike, from nearly the same case to any of an implementation. */
function keysOf(c: BenchmarkCase, settings: MeasureSettings): string[] {
  const op = findOp(c.op)
  const params = op?.params.safeParse(c.params)
  // Sizes within a factor of four are alike.
  const size = op && params?.success ? Math.floor(Math.log2(Math.max(1, op.bytes(params.data, c.dtype))) / 2) : -1
  const { rule, relativeCi, minSamples, minSeconds, maxSeconds, maxWarmupSeconds, verifyWork, energy, rounds } = settings
  const how = [rule?.id ?? '', ...Object.values(rule ?? {}).slice(1), relativeCi, minSamples, minSeconds, maxSeconds, maxWarmupSeconds, verifyWork, ...(energy ? ['energy'] : []), ...(rounds ? ['rounds'] : [])].join(',')
  return [[c.impl, c.mode, size, how, c.op, c.dtype], [c.impl, c.mode, size, how, c.op], [c.impl, c.mode, size, how], [c.impl, size], [c.impl]].map((parts) => parts.join('|'))
}

/** The paces that these times show, newest first; `estimate` gives the seconds that were expected without any pace. */
function pacesOf(took: readonly Took[], estimate: (one: Took) => number): Paces {
  const sums = new Map<string, { count: number; took: number; expected: number }>()
  for (const one of took) {
    const expected = estimate(one)
    if (!(expected > 0) || !(one.wallSeconds > 0)) continue
    for (const key of keysOf(one.case, one.settings)) {
      const sum = sums.get(key) ?? { count: 0, took: 0, expected: 0 }
      sums.set(key, sum)
      if (sum.count === NEWEST) continue
      sum.count += 1
      sum.took += one.wallSeconds
      sum.expected += expected
    }
  }
  // Sums, not medians: the one case in ten that compiles for seconds is part of what ten take.
  return Object.fromEntries([...sums].map(([key, sum]) => [key, sum.took / sum.expected]))
}

/** How many times as long as estimated such a case takes; 1 where nothing like it was measured. */
function paceFor(paces: Paces | undefined, c: BenchmarkCase, settings: MeasureSettings): number {
  if (!paces) return 1
  for (const key of keysOf(c, settings)) {
    const pace = Object.hasOwn(paces, key) ? paces[key] : undefined
    if (pace !== undefined) return pace
  }
  return 1
}
