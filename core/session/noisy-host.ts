import type { Device } from '../backend'
import { paramText, type BenchmarkCase } from '../case'
import { takesRounds } from '../measure/result/rounds'
import type { MeasureSettings } from '../measure/settings'
import { formatPercent } from '../units'
import { noiseFloorOn, processorOf } from './environment'
import type { NoiseFloor } from './types'

/** Largest noise floor of a quiet host, as a fraction. */
const QUIET_FLOOR = 0.02

/** Cases on a processor of this host by what they compute: those of one group compete. */
export const competitors = (cases: readonly BenchmarkCase[]): Map<string, BenchmarkCase[]> =>
  Map.groupBy(cases.filter(({ device }) => processorOf(device) === 'cpu'), workKey)

export const workKey = ({ op, params, dtype, mode }: BenchmarkCase): string => `${op} ${paramText(params)} ${dtype} ${mode}`

/** Why times on this processor are expected to be noisy; undefined on a quiet host. A measured noise floor says more than that the machine is virtual. */
function noiseOf(device: Device, floors: readonly NoiseFloor[]): string | undefined {
  const [now] = device.disturbances ?? []
  // The figure behind it is told beside it, with the other concerns.
  if (now !== undefined) return now.replace(/:.*|[.]$/, '')
  const floor = noiseFloorOn(floors, device)
  if (floor) return floor.ratioP95 > QUIET_FLOOR ? `noise floor ${formatPercent(floor.ratioP95)}` : undefined
  return device.virtual ? 'virtual machine, noise floor not measured' : undefined
}

/**
 * How cases are measured: where the settings leave it open, in interleaved rounds if implementations compete on a processor that is
 * expected to be noisy; `noise` says why. `devices`: all that there are; `floors`: the known noise floors.
 */
export function withRounds(settings: MeasureSettings, cases: readonly BenchmarkCase[], devices: readonly Device[], floors: readonly NoiseFloor[]): { settings: MeasureSettings; noise?: string } {
  if (settings.rounds !== undefined || !takesRounds({ ...settings, rounds: true })) return { settings }
  const groups = [...competitors(cases).values()]
  // Of repeats of a case, none competes with another.
  const compete = groups.some((group) => new Set(group.map(({ impl, device, threads }) => `${impl} ${device} ${threads ?? ''}`)).size > 1)
  const noise = compete ? devices.filter(({ id }) => processorOf(id) === 'cpu').map((device) => noiseOf(device, floors)).find((reason) => reason !== undefined) : undefined
  return noise === undefined ? { settings } : { settings: { ...settings, rounds: true }, noise }
}
