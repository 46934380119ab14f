import { join } from 'node:path'
import { namesIn, readText } from './system'

/** The governors of all processors in one word or list; undefined where there are none (virtual machines). */
export function governorOf(texts: readonly string[]): string | undefined {
  const governors = [...new Set(texts.map((text) => text.trim()).filter(Boolean))].sort()
  return governors.length > 0 ? governors.join(', ') : undefined
}

/** Whether clocks above the base are allowed: from intel_pstate/no_turbo or cpufreq/boost, whichever the system has. */
export function boostOf({ noTurbo, boost }: { noTurbo: string; boost: string }): boolean | undefined {
  const flag = (text: string) => (/^[01]$/.test(text.trim()) ? text.trim() === '1' : undefined)
  const off = flag(noTurbo)
  return off === undefined ? flag(boost) : !off
}

/** One entry of /sys/class/power_supply: `Mains`, `USB` or `Battery`, and what it says of itself. */
export interface Supply {
  type: string
  /** `1` where it delivers; mains and USB only. */
  online: string
  /** `Discharging` and like; batteries only. */
  status: string
  /** `Device` for the battery of a mouse. */
  scope: string
}

/** `mains` or `battery`; undefined where the machine has neither, as a server does. */
export function powerSourceOf(supplies: readonly Supply[]): string | undefined {
  const own = supplies.filter((supply) => supply.scope.trim() !== 'Device')
  const is = (text: string, value: string) => text.trim() === value
  if (own.some((supply) => !is(supply.type, 'Battery') && is(supply.online, '1'))) return 'mains'
  const batteries = own.filter((supply) => is(supply.type, 'Battery'))
  if (batteries.some((battery) => is(battery.status, 'Discharging'))) return 'battery'
  return batteries.length > 0 ? 'mains' : undefined
}

const CPUS = '/sys/devices/system/cpu'
const SUPPLIES = '/sys/class/power_supply'

/** How this machine is clocked and fed, as far as Linux tells. */
export function readPower(): { governor?: string; boost?: boolean; powerSource?: string } {
  const governor = governorOf(namesIn(CPUS, /^cpu\d+$/).map((cpu) => readText(join(CPUS, cpu, 'cpufreq/scaling_governor'))))
  const boost = boostOf({ noTurbo: readText(join(CPUS, 'intel_pstate/no_turbo')), boost: readText(join(CPUS, 'cpufreq/boost')) })
  const powerSource = powerSourceOf(
    namesIn(SUPPLIES, /./).map((name) => {
      const read = (field: string) => readText(join(SUPPLIES, name, field))
      return { type: read('type'), online: read('online'), status: read('status'), scope: read('scope') }
    }),
  )
  return { ...(governor === undefined ? {} : { governor }), ...(boost === undefined ? {} : { boost }), ...(powerSource === undefined ? {} : { powerSource }) }
}
