import type { Device } from '@core/backend'
import { selfCheckSeconds } from '@core/compare'
import { PRESETS } from '@core/measure/settings'
import { baseTitle, ceilingCases, ceilingKind, ceilingSettings, ceilingValue, choiceTitle, compareKinds, intervalOf, isUsable, launchShare, levelsOf, NOTABLE_LAUNCH, passedBytes, splitKind, unusableText, type KnownCeiling, type ProcessorChoice } from '@core/roofline/ceilings'
import { datasheetOf, datasheetValue } from '@core/roofline/datasheet'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { Ceiling } from '@core/session/types'
import { estimateSeconds } from '@core/sweep/estimate'
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
  /** Why it bounds no result. */
  unusable?: string
  grade?: string
  /** Share of the call that launching takes, where it is much: the cache itself is faster. */
  launch?: string
  /** What to know about the figure, for hover. */
  note?: string
}

const CACHE_NOTES = { copy: 'Copies within', read: 'Reads', write: 'Writes' } as const

function noteOf(ceiling: KnownCeiling, launch: number): string | undefined {
  const { result } = ceiling
  const kind = ceilingKind(ceiling.kind)
  const access = kind.is === 'cache' ? kind.access : 'copy'
  switch (kind.is) {
    case 'copy':
      return `Copy of a working set of ${formatBytes(result.bytes)}, in and out together, beyond the caches`
    case 'read':
      return `Sums of rows of ${formatBytes(result.bytes)}, beyond the caches`
    case 'write':
      return `Writes of a constant to ${formatBytes(result.bytes)}, beyond the caches`
    case 'cache':
      if (passedBytes(result.case.op, result.case.params) !== undefined) return `${CACHE_NOTES[access]} of ${formatBytes(passedBytes(result.case.op, result.case.params)!)}, again and again within one call`
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
      const unusable = unusableText(ceiling)
      return {
        kind,
        title: baseTitle(splitKind(kind).base),
        value: ceilingValue(ceiling),
        interval: formatInterval(value, low, high),
        ...(published === undefined ? {} : { datasheet: ceilingValue({ unit, value: published }), share: formatPercent(value / published) }),
        measuredAt,
        ...(driver === undefined ? {} : { driver }),
        ...(stale === undefined ? {} : { stale }),
        ...(unusable === undefined ? {} : { unusable }),
        ...(result.grade === undefined ? {} : { grade: result.grade }),
        ...(note === undefined ? {} : { note }),
        ...(launch >= NOTABLE_LAUNCH ? { launch: formatPercent(launch) } : {}),
      }
    })
}

/** Ceilings of one level and thread count of a processor; those of the whole device have no title. */
export interface CeilingGroup {
  title?: string
  ceilings: KnownCeiling[]
}

/** The ceilings of a device by level and thread count: first those of the whole device, then few threads before many. */
export function ceilingGroups(ceilings: readonly KnownCeiling[]): CeilingGroup[] {
  const groups = Map.groupBy([...ceilings].sort((a, b) => compareKinds(a.kind, b.kind)), ({ kind }) => textOf(splitKind(kind).choice))
  return [...groups].map(([title, own]) => (title === '' ? { ceilings: own } : { title, ceilings: own }))
}

/** What each limit of each level and thread count is; a cell says its interval and date on hover. */
export interface ChoiceTable {
  columns: { kind: string; title: string }[]
  /** Why those marked bound no result; absent where none is marked. */
  unusable?: string
  rows: { title: string; cells: ({ value: string; hover: string; unusable?: true } | undefined)[] }[]
}

/** Groups as a table: caches from small to large after the memory, then the peak and the launch. */
export function choiceTable(groups: readonly CeilingGroup[]): ChoiceTable {
  const kinds = [...new Set(groups.flatMap(({ ceilings }) => ceilings.map(({ kind }) => splitKind(kind).base)))].sort(compareKinds)
  const unusable = groups.flatMap(({ ceilings }) => ceilings.map(unusableText)).find((text) => text !== undefined)
  return {
    ...(unusable === undefined ? {} : { unusable }),
    columns: kinds.map((kind) => ({ kind, title: SHORT_TITLES[kind] ?? baseTitle(kind).replace(/^(L\d\w?) bandwidth$/, '$1 copy').replace(' bandwidth', '') })),
    rows: groups.map(({ title = '', ceilings }) => ({
      title,
      cells: kinds.map((kind) => {
        const found = ceilings.find((one) => splitKind(one.kind).base === kind)
        if (!found) return undefined
        const { low, high } = intervalOf(found)
        return { value: ceilingValue(found), hover: `95 % CI ${formatInterval(found.value, low, high)}, measured ${found.measuredAt.slice(0, 10)}${found.stale === undefined ? '' : `. Stale: ${found.stale}`}`, ...(isUsable(found) ? {} : { unusable: true }) }
      }),
    })),
  }
}

const SHORT_TITLES: Readonly<Record<string, string>> = { 'launch:hot': 'Launch' }

/** The levels and thread counts of a processor that the sweep picked in Run uses. */
export const pickedChoices = (device: Pick<Device, 'backend' | 'id'>, targets: SweepSpec['targets']): ProcessorChoice[] =>
  targets.filter((target) => target.backend === device.backend && target.device === device.id).flatMap(({ impls, threads = [] }) => impls.flatMap((impl) => threads.map((count) => ({ impl, threads: count }))))

/** What measuring every level on every thread count takes; undefined where a device has no such choice. */
export function allCeilingsHint(device: Device, ceilings: readonly Ceiling[]): string | undefined {
  const levels = levelsOf(device)
  if (levels.length === 0) return undefined
  const seconds = estimateSeconds(ceilingCases(device, { all: true }), ceilingSettings(PRESETS.standard, device), ceilings, [device])
  return `Measures every level (${levels.join(', ')}) on ${device.threads.join(', ')} ${device.threads.length === 1 && device.threads[0] === 1 ? 'thread' : 'threads'}. Takes about ${formatDuration(Math.max(10, Math.round(seconds / 10) * 10))}`
}

const textOf = (choice: ProcessorChoice | undefined) => (choice ? choiceTitle(choice) : '')

/** What a call costs in each mode that was measured: `back to back`, `2.13 µs`. */
export function launchFigures(ceilings: readonly KnownCeiling[]): { mode: string; title: string; value: string; interval: string; stale?: string }[] {
  return ceilings
    .filter(({ kind }) => ceilingKind(kind).is === 'launch')
    .sort((a, b) => compareKinds(a.kind, b.kind))
    .map((ceiling) => {
      const { low, high } = intervalOf(ceiling)
      const kind = ceilingKind(ceiling.kind)
      const title = baseTitle(splitKind(ceiling.kind).base).replace(/^Launch,? /, '')
      return { mode: kind.is === 'launch' ? kind.mode : '', title, value: ceilingValue(ceiling), interval: formatInterval(ceiling.value, low, high), ...(ceiling.stale === undefined ? {} : { stale: ceiling.stale }) }
    })
}

/** The product a device's datasheet figures belong to, for the head of their column. */
export const datasheetTitle = (device: Pick<Device, 'name'>): string | undefined => datasheetOf(device.name)?.title

/** How long a self-check of so many devices takes, in whole minutes: `2 min`. */
export const selfCheckTime = (devices: number): string => formatDuration(60 * Math.max(1, Math.round(selfCheckSeconds(devices) / 60)))

export const selfCheckHint = (devices: number): string => `Measures the smallest difference that can be detected on this machine. Takes about ${selfCheckTime(devices)}`
