import type { Device } from '@core/backend'
import { ceilingSettings } from '@core/roofline/ceilings'
import type { RunHooks } from '../conductor'
import type { Stage } from '../stage'
import { sweepSource } from '../sweep-source'
import { listed } from '../words'

/** Keeps what results say about the limits of these devices. */
export const ceilingKeeper = ({ deps: { history, planner }, emitter }: Stage, devices: readonly Device[]): RunHooks => ({
  stored(result) {
    const device = devices.find(({ backend, id }) => backend === result.case.backend && id === result.case.device)
    const ceilings = device ? planner.ceilingsOf(device, result, history.ceilings()) : []
    for (const ceiling of ceilings) history.putCeiling(ceiling)
    if (ceilings.length > 0) emitter.emit('ceilings', history.ceilings())
  },
})

/** Begins a session that measures the limits of these devices, of all available ones when empty. */
export async function measureCeilings(stage: Stage, deviceIds: readonly string[]): Promise<{ sessionId: string }> {
  const devices = await stage.available(deviceIds)
  const cases = devices.flatMap((device) => stage.deps.planner.ceilingCases(device))
  if (cases.length === 0) throw new Error('No device is available whose ceilings could be measured.')
  const settings = ceilingSettings(stage.settings('standard'))
  return stage.create({
    session: { name: `Ceilings of ${listed([...new Set(devices.map((device) => device.name))], 3)}`.slice(0, 200), about: { kind: 'ceilings' }, settings, cases },
    source: sweepSource({ cases, settings, repeats: 1, secondsOf: stage.secondsWith(settings, devices) }),
    devices,
    hooks: () => ceilingKeeper(stage, devices),
  })
}
