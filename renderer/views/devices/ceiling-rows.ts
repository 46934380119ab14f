import type { Device } from '@core/backend'
import { ceilingKind, ceilingTitle, ceilingValue, compareKinds, intervalOf, launchKind, type KnownCeiling } from '@core/roofline/ceilings'
import { datasheetOf, datasheetValue } from '@core/roofline/datasheet'
import { formatBytes, formatInterval, formatPercent, formatTime } from '@core/units'

/** One measured limit as the table shows it. */
export interface CeilingRow {
  kind: string
  title: string
  value: string
  /** Half of the 95 % interval. */
  interval: string
  /** The published figure and the share of it that was measured; absent where none is known. */
  datasheet?: string
  share?: string
  measuredAt: string
  driver?: string
  stale?: string
  grade?: string
  /** What to know about the figure, for hover. */
  note?: string
}

/** A launch that takes this share of a copy tells more about the launch than about the cache. */
const LAUNCH_SHARE = 0.2

function noteOf(ceiling: KnownCeiling, launchSeconds: number | undefined): string | undefined {
  const { result } = ceiling
  switch (ceilingKind(ceiling.kind).is) {
    case 'copy':
      return `Copy of a working set of ${formatBytes(result.bytes)}, in and out together, beyond the caches`
    case 'cache': {
      const share = launchSeconds === undefined || !result.summary ? 0 : launchSeconds / (result.summary.medianNs / 1e9)
      const launch = share >= LAUNCH_SHARE ? `. Launching takes ${formatPercent(Math.min(1, share))} of that call, so the cache itself is faster` : ''
      return `Best copy within the cache: ${formatBytes(result.bytes)} in ${formatTime(result.summary?.medianNs)}${launch}`
    }
    case 'flops':
      return 'Multiply-adds without traffic'
    default:
      return undefined
  }
}

/** Bandwidths and peaks of a device, roofs first. The copies of the curve and the launches are shown by themselves. */
export function ceilingRows(ceilings: readonly KnownCeiling[]): CeilingRow[] {
  const launchSeconds = ceilings.find((ceiling) => ceiling.kind === launchKind('hot'))?.value
  return ceilings
    .filter(({ kind }) => !['copy-size', 'launch'].includes(ceilingKind(kind).is))
    .sort((a, b) => compareKinds(a.kind, b.kind))
    .map((ceiling) => {
      const { kind, deviceName, unit, value, measuredAt, driver, stale, result } = ceiling
      const published = datasheetValue(deviceName, kind)
      const { low, high } = intervalOf(ceiling)
      const note = noteOf(ceiling, launchSeconds)
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
