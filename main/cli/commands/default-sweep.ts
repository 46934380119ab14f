import { join } from 'node:path'
import { isLibrary } from '@core/backends'
import { usualRedactions } from '@core/formats/redact'
import { exportFormat, exportSession, prepareExport } from '@core/formats/registry'
import { presetSettings } from '@core/measure/settings'
import { defaultSweep as defaultSpec } from '@core/sweep/defaults'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import { formatDuration } from '@core/units'
import { thisUser, makeFolder } from '../../paths'
import type { Context } from '../context'
import { follow } from '../follow'
import { writeFileAtomic } from '../../write-file'
import { reportRun } from './sessions'

/** `opscope default-sweep`: what `npm start` does without a display. One op of each family on every device, and a report of it. */
export async function defaultSweep(context: Context, options: { json?: boolean }): Promise<number> {
  // Pythons are the user's to pick, and looking for them takes seconds.
  const runner = context.runner(context.backends().filter((id) => !isLibrary(id)))
  const devices = await runner.devices(false)
  for (const device of devices) if (!device.available.ok) context.remark(`opscope: left out: ${device.backend}: ${device.available.reason}`)
  const spec = defaultSpec(devices)
  const { cases } = planSweep(spec, devices)
  if (cases.length === 0) {
    context.remark('opscope: nothing can be measured here; the lines above say what is missing')
    return 1
  }
  context.remark(`opscope: one operation of each family at one size: ${cases.length} cases, about ${formatDuration(estimateSeconds(cases, presetSettings(spec.preset, context.settings.presets), context.history.ceilings(), devices))}`)
  const followed = await follow(context, runner, () => runner.start(spec), options.json === true)
  const status = reportRun(context, followed, options.json === true)

  if (followed.end.problem !== undefined) return status

  const report = join(context.paths.reports, `${followed.sessionId}.html`)
  makeFolder(context.paths.reports)
  await prepareExport('html')
  writeFileAtomic(report, [exportSession('html', context.history.exportSession(followed.sessionId), { ceilings: context.history.ceilings(), leaveOut: usualRedactions(exportFormat('html')), hints: thisUser() })])
  context.remark(`Session ${followed.sessionId} is in the history in ${context.paths.folder}`)
  context.remark(`Report: ${report}`)
  return status
}
