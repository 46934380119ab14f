import { HOST_WORDS, type DeviceActivity, type FleetDevice, type FleetHost, type FleetState } from '@core/fleet/state'
import { formatInteger } from '@core/units'

/** A line of the table: a machine, or below it one of its devices. */
export type FleetRow = { kind: 'host'; key: string; host: FleetHost } | { kind: 'device'; key: string; host: FleetHost; device: FleetDevice }

/** Hosts that measure first, those that are lost or stopped last; each with its devices. */
export function fleetRows({ hosts }: Pick<FleetState, 'hosts'>, search: string): FleetRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const rank = { up: 0, draining: 1, silent: 2, left: 3 } satisfies Record<FleetHost['state'], number>
  return [...hosts].sort((a, b) => rank[a.state] - rank[b.state]).flatMap((host): FleetRow[] => {
    const matches = (device: FleetDevice) => {
      const text = [host.host, hostWord(host), device.device, device.name, deviceWord(device, host), device.current].join(' ').toLowerCase()
      return words.every((word) => text.includes(word))
    }
    const devices = host.devices.filter(matches)
    if (devices.length === 0 && (words.length > 0 && !words.every((word) => host.host.toLowerCase().includes(word)))) return []
    return [{ kind: 'host', key: host.host, host }, ...devices.map((device) => ({ kind: 'device' as const, key: `${host.host} ${device.backend} ${device.device}`, host, device: knownOf(device, host) }))]
  })
}

/** A device as far as it is known: of a machine that is lost or stopped, what was counted. */
const knownOf = (device: FleetDevice, { state }: FleetHost): FleetDevice => {
  if (state === 'up' || state === 'draining') return device
  const { backend, device: id, name, measured, waiting } = device
  return { backend, device: id, name, state: device.state, measured, waiting }
}

export const hostWord = ({ state }: FleetHost): string => HOST_WORDS[state]

/** What a device does, as its machine is: of one that is lost nothing is known. */
export const deviceWord = ({ state }: FleetDevice, host: FleetHost): DeviceActivity | 'unknown' | 'stopped' => (host.state === 'silent' ? 'unknown' : host.state === 'left' ? 'stopped' : state)

const counted = (count: number, one: string, many: string) => `${formatInteger(count)} ${count === 1 ? one : many}`

/** `3 hosts, 5 devices: 4 measuring, 1 idle`. */
export function fleetSentence({ hosts }: Pick<FleetState, 'hosts'>): string {
  const there = hosts.filter(({ state }) => state === 'up' || state === 'draining')
  const words = there.flatMap((host) => host.devices.map((device) => deviceWord(device, host)))
  const states = (['measuring', 'throttled', 'waiting', 'idle', 'lost'] as const).flatMap((state) => {
    const count = words.filter((word) => word === state).length
    return count > 0 ? [`${formatInteger(count)} ${state}`] : []
  })
  const out = hosts.filter(({ state }) => state === 'silent').length
  const stopped = hosts.length - there.length - out
  const gone = [...(out > 0 ? [`${counted(out, 'host', 'hosts')} lost`] : []), ...(stopped > 0 ? [`${counted(stopped, 'host', 'hosts')} stopped`] : [])]
  return `${counted(there.length, 'host', 'hosts')}, ${counted(words.length, 'device', 'devices')}${states.length > 0 ? `: ${states.join(', ')}` : ''}${gone.length > 0 ? `. ${gone.join(', ')}` : ''}`
}
