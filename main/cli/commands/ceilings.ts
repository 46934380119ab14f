import type { Device } from '@core/backend'
import { ceilingsOn } from '@core/roofline/ceilings'
import { datasheetValue } from '@core/roofline/datasheet'
import type { Context } from '../context'
import { endStatus, follow } from '../follow'
import { ceilingTable, copyTable, latestPerDevice } from '../output/ceiling-tables'
import { readMachines, readPicks } from '../sweep-options'

interface CeilingOptions {
  backends?: string
  devices?: string
  list?: boolean
  json?: boolean
}

/** `opscope ceilings`: measures bandwidths, peak rates and launches of devices, and lists what is known. */
export async function ceilings(context: Context, options: CeilingOptions): Promise<number> {
  if (options.list) {
    print(context, undefined, options.json === true)
    return 0
  }
  const { backends } = readPicks(options, context.backends())
  const runner = context.runner(backends, readMachines(options))
  const known = (await runner.devices(false)).filter((device) => backends.includes(device.backend))
  for (const device of known) if (!device.available.ok) context.remark(`opscope: left out: ${device.backend}: ${device.available.reason}`)
  const wanted = options.devices?.split(',').map((id) => id.trim()) ?? known.map((device) => device.id)
  const followed = await follow(context, runner, () => runner.measureCeilings(wanted), options.json === true)
  print(context, known.filter((device) => wanted.includes(device.id)), options.json === true)
  return endStatus(followed.end) || (followed.end.failures > 0 ? 1 : 0)
}

/** Prints the ceilings of these devices, or all there are, marking those of another driver. */
function print(context: Context, devices: readonly Device[] | undefined, json: boolean): void {
  const all = context.history.ceilings()
  const known = devices ? ceilingsOn(all, devices) : latestPerDevice(all)
  if (json) {
    return context.printJson(
      known.map(({ result, ...ceiling }) => {
        const datasheet = datasheetValue(ceiling.deviceName, ceiling.kind)
        return { ...ceiling, ...(datasheet === undefined ? {} : { datasheet }), resultId: result.id }
      }),
    )
  }
  context.print(known.length > 0 ? ceilingTable(known) : 'No ceilings are known; "opscope ceilings" measures them.')
  const copies = copyTable(known)
  if (copies) context.print(`\nCopy bandwidth by working set\n${copies}`)
}
