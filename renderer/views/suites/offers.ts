import type { Device } from '@core/backend'
import { findOp } from '@core/ops/registry'
import type { SizeForm } from '@core/ops/forms'
import { presetSettings } from '@core/measure/settings'
import type { Ceiling } from '@core/session/types'
import type { Settings } from '@core/settings'
import type { SweepSpec } from '@core/session/sweep-spec'
import { suitePlan, SUITES, type Suite } from '@core/suites'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'

/** What one form of a suite comes to on this machine. */
export interface SuiteOfferExtent {
  spec: SweepSpec
  cases: number
  seconds: number
  /** What is missing here, with the reason. */
  missing: string[]
  /** What is wrong with the sizes that the user gave. */
  problem?: string
}

/** A suite with what its two forms come to here. */
export interface SuiteOffer {
  suite: Suite
  full: SuiteOfferExtent
  quick: SuiteOfferExtent
}

/** The form of the sizes that a suite of one operation can be given in place of its own. */
export function sizeFormOf({ quick: { ops } }: Suite): SizeForm | undefined {
  return ops.length === 1 ? findOp(ops[0]!.op)?.size : undefined
}

/** Every suite as these devices can measure it. `sizes`: what the user gave for a suite of one operation, by the suite's id. */
export function suiteOffers(devices: readonly Device[], ceilings: readonly Ceiling[], presets: Settings['presets'], sizes: Readonly<Record<string, string>> = {}): SuiteOffer[] {
  const extent = (suite: Suite, quick: boolean): SuiteOfferExtent => {
    const planned = suitePlan(suite, devices, quick)
    const own = sizes[suite.id]?.trim() ?? ''
    const { missing } = planned
    const spec = own === '' ? planned.spec : { ...planned.spec, ops: planned.spec.ops.map((pick) => ({ ...pick, sizes: own })) }
    const { cases, problems } = planSweep(spec, devices)
    return { spec, missing, ...(own === '' || problems.length === 0 ? {} : { problem: problems[0]! }), cases: cases.length, seconds: estimateSeconds(cases, presetSettings(spec.preset, presets), ceilings, devices) }
  }
  return SUITES.map((suite) => ({ suite, full: extent(suite, false), quick: extent(suite, true) }))
}

/** What a sweep measures, operations of the same sizes together: `add, mul: 1048576, 4194304`. */
export function contentsOf({ ops }: Pick<SweepSpec, 'ops'>): { ops: string; sizes: string }[] {
  const groups = new Map<string, string[]>()
  for (const { op, sizes = '', attributes = {} } of ops) {
    const variants = Object.entries(attributes).map(([name, values]) => ` ${name}=${values.join('+')}`).join('')
    groups.set(sizes, [...(groups.get(sizes) ?? []), `${op}${variants}`])
  }
  return [...groups].map(([sizes, names]) => ({ ops: names.join(', '), sizes }))
}

/** Where a sweep is measured: `cuda kernel, python torch`. */
export const implsOf = ({ targets }: Pick<SweepSpec, 'targets'>): string => targets.map(({ device, impls, threads }) => `${device} (${impls.join(', ')}${threads ? `, ${threads.join(', ')} ${threads.length === 1 && threads[0] === 1 ? 'thread' : 'threads'}` : ''})`).join('; ')

/** Name of a session of a suite. */
export const suiteSessionName = (suite: Suite, quick: boolean): string => `${suite.title}${quick ? ' (quick)' : ''}`
