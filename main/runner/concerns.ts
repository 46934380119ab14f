import type { Device } from '@core/backend'
import { listed } from './words'

const sentences = ({ name }: Device, texts: readonly string[]) => texts.map((text) => `${name}: ${text.replace(/[.]$/, '')}`)

/**
 * What a user should know of devices before a run on them, one sentence; undefined when there is nothing. Disturbances
 * are told each time, since they come and go; a warning only while `told` does not hold it, which takes it in.
 */
export function concernsOf(devices: readonly Device[], told: Set<string>): string | undefined {
  const warnings = devices.flatMap((device) => sentences(device, device.warnings)).filter((text) => !told.has(text))
  for (const text of warnings) told.add(text)
  const concerns = [...new Set([...devices.flatMap((device) => sentences(device, device.disturbances ?? [])), ...warnings])]
  return concerns.length === 0 ? undefined : `Worth knowing about this run: ${listed(concerns, 4, '; ')}.`
}
