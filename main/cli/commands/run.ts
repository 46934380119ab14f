import { planSweep } from '@core/sweep/plan'
import { estimateSeconds } from '@core/sweep/estimate'
import { placeOf } from '@core/fleet/place'
import { presetSettings } from '@core/measure/settings'
import { formatDuration } from '@core/units'
import { readName } from '../choices'
import type { Context } from '../context'
import { follow } from '../follow'
import { readMachines, readPicks, specOf, type SweepOptions } from '../sweep-options'
import { UsageError } from '../usage-error'
import { reportRun } from './report'

export interface RunOptions extends SweepOptions {
  name?: string
  json?: boolean
  dryRun?: boolean
}

/** `opscope run`: plans the picked sweep, measures it and prints the results. */
export async function run(context: Context, options: RunOptions): Promise<number> {
  const name = readName(options.name)
  const picks = readPicks(options, context.backends())
  const runner = context.runner(picks.backends, readMachines(options))
  const devices = await runner.devices(false)
  const { spec, missing } = specOf(picks, options, devices)
  if (spec.targets.length === 0) {
    context.remark(`opscope: nothing can be measured: ${missing.join('; ') || 'no picked device has the picked implementations'}`)
    return 1
  }
  if (picks.backendsNamed) for (const reason of missing) context.remark(`opscope: left out: ${reason}`)

  const plan = planSweep(spec, devices)
  // With nothing left, the refusal of the run says why.
  if (plan.cases.length > 0 || options.dryRun) for (const { reason, count, example } of plan.skipped) context.remark(`opscope: left out: ${reason} (${count === 1 ? example : `${count} cases, such as ${example}`})`)
  if (plan.problems.length > 0) throw new UsageError(plan.problems.join('; '))
  const { repeats = 1 } = spec
  const seconds = repeats * estimateSeconds(plan.cases, presetSettings(spec.preset, context.settings.presets, spec.measure), context.history.ceilings(), devices)
  const count = `${plan.cases.length} ${plan.cases.length === 1 ? 'case' : 'cases'}${repeats > 1 ? `, ${repeats} times` : ''}, about ${formatDuration(seconds)}`
  if (options.dryRun) {
    if (options.json) context.printJson({ cases: plan.cases, repeats, skipped: plan.skipped, seconds })
    else context.print(count)
    return 0
  }
  if (plan.cases.length > 0) context.remark(`opscope: ${count}`)

  const followed = await follow(context, runner, () => runner.start(spec, name), options.json === true)
  const status = reportRun(context, followed, options.json === true)
  return status === 0 && picks.backendsNamed && missing.length > 0 ? 1 : status
}

/** `opscope resume`: measures what a stopped or interrupted session has left. */
export async function resume(context: Context, sessionId: string, options: { json?: boolean }): Promise<number> {
  const left = context.history.remaining(sessionId)
  const runner = context.runner([...new Set(left.map((c) => c.backend))], new Set(left.map((c) => placeOf(c.device).host)))
  return reportRun(context, await follow(context, runner, () => runner.resumeSession(sessionId), options.json === true), options.json === true)
}
