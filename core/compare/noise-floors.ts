import type { Environment, NoiseFloor } from '../session/types'

/** The newest noise floor known for each of the devices used (`backend/device`); devices with different names have their own. */
export function noiseFloorsOf(environments: readonly Environment[], used: ReadonlySet<string>): NoiseFloor[] {
  const newest = new Map<string, NoiseFloor>()
  for (const floor of environments.flatMap(({ noiseFloors = [] }) => noiseFloors)) {
    if (!used.has(`${floor.backend}/${floor.device}`)) continue
    const key = `${floor.backend}/${floor.device}/${floor.deviceName}`
    const known = newest.get(key)
    if (!known || known.measuredAt < floor.measuredAt) newest.set(key, floor)
  }
  return [...newest.values()]
}
