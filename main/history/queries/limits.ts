import type { Ceiling, NoiseFloor } from '@core/session/types'
import { query, type Database } from '../database/database'
import { readable } from './codec'

/** What is kept of devices beside sessions: one ceiling of each kind, and the last noise floor, for each device and driver. */

export const ceilings = (db: Database): Ceiling[] => readable<Ceiling>(db.all(query.selectFrom('ceilings').select('json').orderBy('backend').orderBy('device').orderBy('kind')))

export function putCeiling(db: Database, ceiling: Ceiling): void {
  const { backend, device, deviceName: device_name, driver = '', kind } = ceiling
  const json = JSON.stringify(ceiling)
  db.run(
    query
      .insertInto('ceilings')
      .values({ backend, device, device_name, driver, kind, json })
      .onConflict((oc) => oc.columns(['backend', 'device', 'device_name', 'driver', 'kind']).doUpdateSet({ json })),
  )
}

export const noiseFloors = (db: Database): NoiseFloor[] => readable<NoiseFloor>(db.all(query.selectFrom('noise_floors').select('json').orderBy('backend').orderBy('device').orderBy('driver')))

export function putNoiseFloor(db: Database, floor: NoiseFloor): void {
  const { backend, device, deviceName: device_name, driver = '' } = floor
  const json = JSON.stringify(floor)
  db.run(
    query
      .insertInto('noise_floors')
      .values({ backend, device, device_name, driver, json })
      .onConflict((oc) => oc.columns(['backend', 'device', 'device_name', 'driver']).doUpdateSet({ json })),
  )
}
