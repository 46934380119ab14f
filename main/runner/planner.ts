import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import type { Pair } from '@core/compare'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import type { Ceiling } from '@core/session/types'
import type { Took } from '@core/sweep/estimate'
import type { SweepSpec } from '@core/session/sweep-spec'
import { listed } from './words'

/** What the runner needs of core's plan of a sweep. */
export interface SweepPlan {
  cases: readonly BenchmarkCase[]
  /** Mistakes in the picks, and devices that cannot be had. */
  problems: readonly string[]
  skipped: readonly { reason: string; count: number }[]
}

/** The pure decisions of a run; core's in the product (index.ts). */
export interface Planner {
  /** The cases of a sweep, in the order to measure, and what stands in the way of others. */
  plan(spec: SweepSpec, devices: readonly Device[]): SweepPlan
  /** Expected wall time of a case in seconds. */
  seconds(c: BenchmarkCase, settings: MeasureSettings, ceilings: readonly Ceiling[], devices: readonly Device[]): number
  /** The devices with how long their cases took on this machine, newest first, against the estimates. */
  paced(devices: readonly Device[], took: readonly Took[], ceilings: readonly Ceiling[]): Device[]
  /** The cases that measure a device's limits, and what one more result says, given what is known. */
  ceilingCases(device: Device): readonly BenchmarkCase[]
  ceilingsOf(device: Device, result: Result, known: readonly Ceiling[]): readonly Ceiling[]
  /** So many pairs of a case with itself for each device. */
  selfCheckPairs(devices: readonly Device[], pairs: number): readonly Pair[]
}

/** Why a plan came to nothing, in a sentence. */
export function nothingToMeasure({ problems, skipped }: SweepPlan): string {
  const reasons = problems.length > 0 ? problems : skipped.map(({ reason, count }) => (count === 1 ? reason : `${reason} (${count} cases)`))
  return `Nothing can be measured: ${reasons.length > 0 ? listed(reasons, 4, '; ') : 'nothing is picked'}.`
}
