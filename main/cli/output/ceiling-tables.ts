import { ceilingKind, ceilingTitle, ceilingValue, ceilingsOn, compareKinds, copyCurve, intervalOf, launchShare, NOTABLE_LAUNCH, unusableText, type KnownCeiling } from '@core/roofline/ceilings'
import { datasheetValue } from '@core/roofline/datasheet'
import type { Ceiling } from '@core/session/types'
import { formatBandwidth, formatBytes, formatInterval, formatPercent } from '@core/units'
import { table, when } from './tables'

/** The ceilings of each device, devices in the order met. */
function byDevice<T extends Ceiling>(ceilings: readonly T[]): T[][] {
  const groups = new Map<string, T[]>()
  for (const ceiling of ceilings) {
    const key = `${ceiling.backend}|${ceiling.device}|${ceiling.deviceName}`
    const own = groups.get(key)
    if (own) own.push(ceiling)
    else groups.set(key, [ceiling])
  }
  return [...groups.values()]
}

/**
 * One ceiling of each kind per device, for when the devices themselves are not asked: the driver of a device's newest
 * ceiling counts as its driver, and ceilings of an older one that have no successor are marked stale.
 */
export function latestPerDevice(ceilings: readonly Ceiling[]): KnownCeiling[] {
  return byDevice(ceilings).flatMap((own) => {
    const { backend, device: id, deviceName: name, driver } = own.reduce((last, c) => (last.measuredAt >= c.measuredAt ? last : c))
    return ceilingsOn(own, [{ backend, id, name, driver }])
  })
}

/** Bandwidths, peaks and launches, each beside its datasheet; copies of single working sets are left to `copyTable`. */
export function ceilingTable(ceilings: readonly KnownCeiling[]): string {
  const rows = byDevice(ceilings.filter((c) => ceilingKind(c.kind).is !== 'copy-size')).flatMap((own) => own.sort((a, b) => compareKinds(a.kind, b.kind)))
  return table(rows, [
    { title: 'device', cell: (c) => c.device },
    { title: 'name', cell: (c) => c.deviceName },
    { title: 'driver', cell: (c) => c.driver ?? '' },
    { title: 'ceiling', cell: (c) => ceilingTitle(c.kind) },
    { title: 'measured', align: 'right', cell: (c) => ceilingValue(c) },
    { title: '95 % CI ±', align: 'right', cell: (c) => formatInterval(c.value, intervalOf(c).low, intervalOf(c).high) },
    { title: 'datasheet', align: 'right', cell: (c) => published(c, (value) => ceilingValue({ unit: c.unit, value })) },
    { title: 'share', align: 'right', cell: (c) => published(c, (value) => formatPercent(c.value / value)) },
    { title: 'when', cell: (c) => when(c.measuredAt) },
    { title: 'note', cell: (c) => noteOf(c, rows) },
  ])
}

/** What speaks against a figure: an interval too wide, another driver, or a launch that takes much of the copy. */
function noteOf(ceiling: KnownCeiling, ceilings: readonly Ceiling[]): string {
  const launch = ceilingKind(ceiling.kind).is === 'cache' ? (launchShare(ceiling, ceilings) ?? 0) : 0
  return [unusableText(ceiling), ceiling.stale && `stale: ${ceiling.stale}`, launch >= NOTABLE_LAUNCH && `launching takes ${formatPercent(launch)} of that copy`].filter(Boolean).join('; ')
}

function published(ceiling: KnownCeiling, text: (value: number) => string): string {
  const value = datasheetValue(ceiling.deviceName, ceiling.kind)
  return value === undefined ? '' : text(value)
}

/** Copy bandwidth by working set, a column per device; undefined where no curve was measured. */
export function copyTable(ceilings: readonly KnownCeiling[]): string | undefined {
  const devices = byDevice(ceilings)
    .map((own) => ({ title: own[0]!.device, curve: new Map(copyCurve(own).map((point) => [point.bytes, point.bytesPerSecond])) }))
    .filter(({ curve }) => curve.size > 1)
  if (devices.length === 0) return undefined
  const sizes = [...new Set(devices.flatMap(({ curve }) => [...curve.keys()]))].sort((a, b) => a - b)
  return table(sizes, [
    { title: 'working set', align: 'right', cell: formatBytes },
    ...devices.map(({ title, curve }) => ({ title, align: 'right' as const, cell: (bytes: number) => (curve.has(bytes) ? formatBandwidth(curve.get(bytes)) : '') })),
  ])
}
