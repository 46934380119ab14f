import { machineOf } from '@core/fleet/machines'
import type { RowSource } from '../../../stores/rows/result-rows'

/**
 * The column without which rows of one case would look alike: `host` where several machines measured, `device` where one backend has
 * several devices on a machine; undefined where neither is needed.
 */
export function placeColumn(rows: RowSource): 'host' | 'device' | undefined {
  const hosts = new Set<string>()
  const devices = new Map<string, string>()
  let several = false
  for (let i = 0; i < rows.length; i++) {
    const c = rows.case(i)
    const host = machineOf(c)
    hosts.add(host)
    const backend = `${host}|${c.backend}`
    const before = devices.get(backend)
    if (before === undefined) devices.set(backend, c.device)
    else if (before !== c.device) several = true
  }
  // The name of a device carries its host.
  return several ? 'device' : hosts.size > 1 ? 'host' : undefined
}
