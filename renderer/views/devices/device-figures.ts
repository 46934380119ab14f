import type { Device } from '@core/backend'
import { selfCheckSeconds } from '@core/compare'
import { ceilingKind, ceilingTitle, ceilingValue, compareKinds, intervalOf, launchShare, NOTABLE_LAUNCH, type KnownCeiling } from '@core/roofline/ceilings'
import { datasheetOf, datasheetValue } from '@core/roofline/datasheet'
import { formatBytes, formatInterval, formatPercent, formatTime, formatDuration } from '@core/units'

/** One measured limit as the table shows it. */
export interface CeilingRow {
  kind: string
  title: string
  value: string
  /** Half of the 95 % CI. */
  interval: string
  /** The published figure and the share of it that was measured; absent where none is known. */
  datasheet?: string
  share?: string
  measuredAt: string
  driver?: string
  stale?: string
  grade?: string
  /** Share of the call that launching takes, where it is much: the cache itself is faster. */
  launch?: string
  /** What to know about the figure, for hover. */
  note?: string
}

function noteOf(ceiling: KnownCeiling, launch: number): string | undefined {
  const { result } = ceiling
  switch (ceilingKind(ceiling.kind).is) {
    case 'copy':
      return `Copy of a working set of ${formatBytes(result.bytes)}, in and out together, beyond the caches`
    case 'read':
      return `Sums of rows of ${formatBytes(result.bytes)}, beyond the caches`
    case 'write':
      return `Writes of a constant to ${formatBytes(result.bytes)}, beyond the caches`
    case 'cache':
      return `Best copy within the cache: ${formatBytes(result.bytes)} in ${formatTime(result.summary?.medianNs)}${launch >= NOTABLE_LAUNCH ? `. Launching takes ${formatPercent(launch)} of that call, so the cache itself is faster` : ''}`
    case 'flops':
      return 'Multiply-adds without traffic'
    default:
      return undefined
  }
}

/** Bandwidths and peaks of a device, roofs first. The copies of the curve and the launches are shown by themselves. */
export function ceilingRows(ceilings: readonly KnownCeiling[]): CeilingRow[] {
  return ceilings
    .filter(({ kind }) => !['copy-size', 'launch'].includes(ceilingKind(kind).is))
    .sort((a, b) => compareKinds(a.kind, b.kind))
    .map((ceiling) => {
      const { kind, deviceName, unit, value, measuredAt, driver, stale, result } = ceiling
      const published = datasheetValue(deviceName, kind)
      const { low, high } = intervalOf(ceiling)
      const launch = ceilingKind(kind).is === 'cache' ? (launchShare(ceiling, ceilings) ?? 0) : 0
      const note = noteOf(ceiling, launch)
      return {
        kind,
        title: ceilingTitle(kind),
        value: ceilingValue(ceiling),
        interval: formatInterval(value, low, high),
        ...(published === undefined ? {} : { datasheet: ceilingValue({ unit, value: published }), share: formatPercent(value / published) }),
        measuredAt,
        ...(driver === undefined ? {} : { driver }),
        ...(stale === undefined ? {} : { stale }),
        ...(result.grade === undefined ? {} : { grade: result.grade }),
        ...(note === undefined ? {} : { note }),
        ...(launch >= NOTABLE_LAUNCH ? { launch: formatPercent(launch) } : {}),
      }
    })
}

/** What a call costs in each mode that was measured: `back to back`, `2.13 µs`. */
export function launchFigures(ceilings: readonly KnownCeiling[]): { mode: string; title: string; value: string; interval: string; stale?: string }[] {
  return ceilings
    .filter(({ kind }) => ceilingKind(kind).is === 'launch')
    .sort((a, b) => compareKinds(a.kind, b.kind))
    .map((ceiling) => {
      const { low, high } = intervalOf(ceiling)
      const kind = ceilingKind(ceiling.kind)
      const title = ceilingTitle(ceiling.kind).replace(/^Launch,? /, '')
      return { mode: kind.is === 'launch' ? kind.mode : '', title, value: ceilingValue(ceiling), interval: formatInterval(ceiling.value, low, high), ...(ceiling.stale === undefined ? {} : { stale: ceiling.stale }) }
    })
}

/** The product a device's datasheet figures belong to, for the head of their column. */
export const datasheetTitle = (device: Pick<Device, 'name'>): string | undefined => datasheetOf(device.name)?.title

/** How long a self-check of so many devices takes, in whole minutes: `2 min`. */
export const selfCheckTime = (devices: number): string => formatDuration(60 * Math.max(1, Math.round(selfCheckSeconds(devices) / 60)))

export const selfCheckHint = (devices: number): string => `Measures the smallest difference that can be detected on this machine. Takes about ${selfCheckTime(devices)}`
