import { selfCheckSeconds } from '@core/compare'
import { formatDuration } from '@core/units'

/** How long a self-check of so many devices takes, in whole minutes: `2 min`. */
export const selfCheckTime = (devices: number): string => formatDuration(60 * Math.max(1, Math.round(selfCheckSeconds(devices) / 60)))

export const selfCheckHint = (devices: number): string => `Compares cases with themselves; the differences it finds are noise. Takes about ${selfCheckTime(devices)}`
