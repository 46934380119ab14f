import type { Device } from '@core/backend'
import { ceilingsOn, levelsOf, wholeChoice, type CeilingScope } from '@core/roofline/ceilings'
import { datasheetValue } from '@core/roofline/datasheet'
import type { NoiseFloor } from '@core/session/types'
import { pickList, UsageError } from '../options/choices'
import type { Context } from '../context'
import { endStatus, follow, verdict } from '../follow'
import { ceilingTable, copyTable, latestPerDevice } from '../output/ceiling-tables'
import { noiseTable } from '../output/tables'
import { readMachines, readPicks } from '../options/sweep-options'

/** Share of pairs of equal cases that may be told apart: one in a hundred. */
const MAX_FALSE = 0.01

interface SelfCheckOptions {
  backends?: string
  devices?: string
  pairs?: string
  json?: boolean
}

function readPairs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const pairs = Number(text)
  if (text.trim() !== '' && Number.isInteger(pairs) && pairs >= 4 && pairs <= 1000) return pairs
  throw new UsageError(`--pairs ${text} is not understood; expected a whole number from 4 to 1000`)
}

/** Exit status of a self-check: 1 when nothing could be measured, or the machine sees more differences than chance allows. */
export function selfCheckStatus(floors: readonly NoiseFloor[]): number {
  const pairs = floors.reduce((sum, floor) => sum + floor.pairs, 0)
  const wrong = floors.reduce((sum, floor) => sum + floor.falseVerdicts, 0)
  return pairs === 0 || wrong > MAX_FALSE * pairs ? 1 : 0
}

/** `opscope self-check`: compares cases with themselves and prints the noise floor of each device. */
export async function selfCheck(context: Context, options: SelfCheckOptions): Promise<number> {
  const pairs = readPairs(options.pairs)
  const { backends } = readPicks(options, context.backends())
  const runner = context.runner(backends, readMachines(options))
  const known = (await runner.devices(false)).filter((device) => backends.includes(device.backend))
  for (const device of known) if (!device.available.ok) context.remark(`opscope: left out: ${device.backend}: ${device.available.reason}`)
  const wanted = options.devices === undefined ? known.map((device) => device.id) : pickList('device', options.devices, known.map((device) => device.id))
  if (!known.some((device) => device.available.ok && wanted.includes(device.id))) {
    context.remark('opscope: nothing can be measured: none of these devices can be used')
    return 1
  }
  const followed = await follow(context, runner, () => runner.selfCheck(wanted, pairs), options.json === true, 'wrong')
  const floors = context.history.noiseFloors().filter((floor) => floor.sessionId === followed.sessionId)
  if (options.json) context.printJson(floors)
  else if (floors.length > 0) context.print(noiseTable(floors))
  context.remark(verdict(context, followed))
  const status = endStatus(followed.end)
  if (status !== 0) return status
  return selfCheckStatus(floors)
}

interface CeilingOptions {
  backends?: string
  devices?: string
  all?: boolean
  impls?: string
  threads?: string
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
  const scope = ceilingScope(known.filter((device) => wanted.includes(device.id)), options)
  const followed = await follow(context, runner, () => runner.measureCeilings(wanted, scope), options.json === true)
  print(context, known.filter((device) => wanted.includes(device.id)), options.json === true)
  return endStatus(followed.end) || (followed.end.failures > 0 ? 1 : 0)
}

/** Which ceilings of processors the options ask for: the levels and thread counts named, each with all of the other where one is left out. */
export function ceilingScope(devices: readonly Device[], { all, impls, threads }: Pick<CeilingOptions, 'all' | 'impls' | 'threads'>): CeilingScope {
  if (all) return { all }
  if (impls === undefined && threads === undefined) return {}
  const processors = devices.filter((device) => wholeChoice(device))
  if (processors.length === 0) throw new UsageError('--impls and --threads choose ceilings of a processor, and none is measured')
  const choices = processors.flatMap((device) => {
    const levels = impls === undefined ? [wholeChoice(device)!.impl] : pickList('implementation', impls, levelsOf(device))
    const counts = threads === undefined ? device.threads.map(String) : pickList('thread count', threads, device.threads.map(String))
    return levels.flatMap((impl) => counts.map((count) => ({ impl, threads: Number(count) })))
  })
  return { choices }
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
