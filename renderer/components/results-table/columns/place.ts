import { machineOf } from '@core/fleet/machines'
import type { RowSource } from '../../../stores/rows/result-rows'

/**
 * The column without which rows of one case would look alike: `host` where several machines measured, `device` where one backend has
 * several devices on a machine; undefined where neither is needed.
 */
export function placeColumn(rows: RowSource): 'host' | 'device' | undefined {
  // Devices of each backend first: there are few of them, and up to 100,000 rows.
  const seen = new Map<string, Set<string>>()
  for (let i = 0; i < rows.length; i++) {
    const { backend, device } = rows.case(i)
    const of = seen.get(backend)
    if (of) of.add(device)
    else seen.set(backend, new Set([device]))
  }
  const hosts = new Set<string>()
  let several = false
  for (const devices of seen.values()) {
    const own = [...devices].map((device) => machineOf({ device }))
    if (new Set(own).size < own.length) several = true
    own.forEach((host) => hosts.add(host))
  }
  // The name of a device carries its host.
  return several ? 'device' : hosts.size > 1 ? 'host' : undefined
}
