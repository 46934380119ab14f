import type { Device } from '@core/backend'
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
}

/** A suite with what its two forms come to here. */
export interface SuiteOffer {
  suite: Suite
  full: SuiteOfferExtent
  quick: SuiteOfferExtent
}

/** Every suite as these devices can measure it. */
export function suiteOffers(devices: readonly Device[], ceilings: readonly Ceiling[], presets: Settings['presets']): SuiteOffer[] {
  const extent = (suite: Suite, quick: boolean): SuiteOfferExtent => {
    const { spec, missing } = suitePlan(suite, devices, quick)
    const { cases } = planSweep(spec, devices)
    return { spec, missing, cases: cases.length, seconds: estimateSeconds(cases, presetSettings(spec.preset, presets), ceilings, devices) }
  }
  return SUITES.map((suite) => ({ suite, full: extent(suite, false), quick: extent(suite, true) }))
}

/** Name of a session of a suite. */
export const suiteSessionName = (suite: Suite, quick: boolean): string => `${suite.title}${quick ? ' (quick)' : ''}`
