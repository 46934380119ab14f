import { formatPercent } from '../units'
import { forDriver, type Stale } from './for-driver'
import type { NoiseFloor } from './types'

export type KnownNoiseFloor = NoiseFloor & Stale

/** The last self-check of a device; one under another driver says so in `stale`. */
export function noiseFloorOn(floors: readonly NoiseFloor[], device: { backend: string; id: string; name: string; driver?: string | undefined }): KnownNoiseFloor | undefined {
  return forDriver(floors.filter((f) => f.backend === device.backend && f.device === device.id && f.deviceName === device.name), device.driver)
}

/** `0.43 % in 95 % of 40 pairs, typically 0.11 %, 0 false verdicts`. */
export const noiseFloorText = ({ ratioP50, ratioP95, pairs, falseVerdicts }: NoiseFloor): string =>
  `${formatPercent(ratioP95)} in 95 % of ${pairs} pairs, typically ${formatPercent(ratioP50)}, ${falseVerdicts} false ${falseVerdicts === 1 ? 'verdict' : 'verdicts'}`
