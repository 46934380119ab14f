import type { Device } from '@core/backend'
import { findOp } from '@core/ops/registry'
import type { SizeForm } from '@core/ops/forms'
import { presetSettings } from '@core/measure/settings'
import { MAX_SESSION_NAME, type Ceiling } from '@core/session/types'
import type { Settings } from '@core/settings'
import type { SweepSpec } from '@core/session/sweep-spec'
import { suitePlan, SUITES, type Suite } from '@core/suites'
import { choicesOf, narrowingText, selectionWithout, type LeftOut, type SuiteChoice } from '@core/suites/narrow'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'

/** What one form of a suite comes to on this machine. */
export interface SuiteOfferExtent {
  spec: SweepSpec
  cases: number
  seconds: number
  /** What is missing here, with the reason. */
  missing: string[]
  /** What is wrong with the sizes that the user gave, or with what is left out. */
  problem?: string
  /** What of it can be left out, and what stays in words; empty where it is whole. */
  choices: readonly SuiteChoice[]
  narrowing: string
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

/** What the user changes of a suite: sizes of one that is of one operation, and what is left out. */
export interface SuiteChange {
  size?: string
  leftOut?: LeftOut
}

/** Every suite as these devices can measure it, changed as the user wants, by the suite's id. */
export function suiteOffers(devices: readonly Device[], ceilings: readonly Ceiling[], presets: Settings['presets'], changes: Readonly<Record<string, SuiteChange>> = {}): SuiteOffer[] {
  const extent = (suite: Suite, quick: boolean): SuiteOfferExtent => {
    const { size = '', leftOut = {} } = changes[suite.id] ?? {}
    const choices = choicesOf(suite, quick ? suite.quick : suite.full)
    const { selection, problem: narrowed } = selectionWithout(choices, leftOut)
    const planned = suitePlan(suite, devices, quick, selection)
    const own = size.trim()
    const { missing } = planned
    const spec = own === '' ? planned.spec : { ...planned.spec, ops: planned.spec.ops.map((pick) => ({ ...pick, sizes: own })) }
    const { cases, problems } = planSweep(spec, devices)
    const problem = narrowed ?? (own === '' ? undefined : problems[0])
    return { spec, missing, choices, narrowing: narrowingText(choices, leftOut), ...(problem === undefined ? {} : { problem }), cases: cases.length, seconds: estimateSeconds(cases, presetSettings(spec.preset, presets), ceilings, devices) }
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

/** Name of a session of a suite, of a part of it with what stays. */
export function suiteSessionName({ title }: Suite, quick: boolean, narrowing = ''): string {
  const remarks = [...(quick ? ['quick'] : []), ...(narrowing === '' ? [] : [narrowing])].join('; ')
  return `${title}${remarks && ` (${remarks})`}`.slice(0, MAX_SESSION_NAME)
}
