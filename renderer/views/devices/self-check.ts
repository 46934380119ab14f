import { selfCheckSeconds } from '@core/compare'
import { formatDuration } from '@core/units'

/** How long a self-check of so many devices takes, in whole minutes: `2 min`. */
export const selfCheckTime = (devices: number): string => formatDuration(60 * Math.max(1, Math.round(selfCheckSeconds(devices) / 60)))

export const selfCheckHint = (devices: number): string => `Measures the smallest difference that can be detected on this machine. Takes about ${selfCheckTime(devices)}`
