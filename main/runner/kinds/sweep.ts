import type { BenchmarkCase } from '@core/case'
import type { SweepSpec } from '@core/sweep/types'
import { nothingToMeasure } from '../planner'
import { usedBy, type Stage } from '../stage'
import { sweepSource } from '../sources/source'
import { sessionName } from '../words'

/** Begins a sweep, or only these of its cases, as a new session. Throws with the reason when it has no case. */
export async function startSweep(stage: Stage, spec: SweepSpec, name?: string, only?: (c: BenchmarkCase) => boolean): Promise<{ sessionId: string }> {
  const devices = await stage.devices(spec.targets)
  const whole = stage.deps.planner.plan(spec, devices)
  const plan = only ? { ...whole, cases: whole.cases.filter(only) } : whole
  if (plan.cases.length === 0) throw new Error(nothingToMeasure(plan))
  const settings = stage.settings(spec.preset, spec.measure)
  const { repeats = 1 } = spec
  const cases = Array.from({ length: repeats }, () => plan.cases).flat()
  return stage.create({
    session: { name: name?.trim() || sessionName(spec), settings, cases, spec },
    source: sweepSource({ cases, settings, repeats, secondsOf: stage.secondsWith(settings, devices) }),
    devices: usedBy(cases, devices),
  })
}
