import { seriesKey } from '@core/backends'
import { autoBaselineOf, autoBaselinesOf, autoBaselineTitle, Baseline, baselineTitle, defaultBaseline, isSplit, type AutoBaselines } from '@core/analysis/baseline'
import { SharedWork } from '@core/analysis/opening'
import { speedupOf, type RatioOfMedians, type Timing } from '@core/analysis/timing'
import type { Device } from '@core/backend'
import { ratioGrade } from '@core/compare'
import { processorOf } from '@core/session/environment'
import { formatRatio, formatTime } from '@core/units'
import type { RowSource } from '../../../stores/rows/result-rows'
import type { NumberColumn } from './column'

const PREFIX = 'speedup:'

/** Id of the column against an implementation (`python/torch`), or of the one that chooses by itself. */
export const speedupId = (key: string | undefined): string => (key === undefined ? 'speedup' : PREFIX + key)

/** The baseline in a column's id; `key` is absent where the column chooses by itself. Undefined for other columns. */
export const baselineOfId = (id: string): { key?: string } | undefined => (id === 'speedup' ? {} : id.startsWith(PREFIX) ? { key: id.slice(PREFIX.length) } : undefined)

/** What was found in the rows so far: rows are only appended, so each is looked at once. */
interface Known {
  taken: number
  /** Implementations met, in the order of the rows. */
  keys: Map<string, { backend: string; impl: string }>
  shared: SharedWork
  baselines: Map<string, { rows: Baseline; taken: number }>
  /** Absent until it was asked for of these rows. */
  auto?: AutoBaselines | undefined
}
const known = new WeakMap<RowSource, Known>()
/** Series keys that devices prefer, by the rows they measured. */
const preferred = new WeakMap<RowSource, readonly string[]>()

/** Tells which implementations the devices of these rows prefer, for the column that chooses its baseline itself. */
export const preferImpls = (rows: RowSource, devices: readonly Device[]): void => {
  preferred.set(rows, devices.flatMap(({ backend, impls }) => impls.filter((impl) => impl.preferred).map(({ id: impl }) => seriesKey({ backend, impl }))))
  const own = known.get(rows)
  if (own) own.auto = undefined
}

function lookThrough(rows: RowSource): Known {
  let own = known.get(rows)
  if (!own) known.set(rows, (own = { taken: 0, keys: new Map(), shared: new SharedWork(), baselines: new Map() }))
  // Of a row source only the version is reactive.
  if (rows.version >= 0 && own.taken === rows.length) return own
  for (; own.taken < rows.length; own.taken++) {
    const c = rows.case(own.taken)
    const key = seriesKey(c)
    if (!own.keys.has(key)) own.keys.set(key, { backend: c.backend, impl: c.impl })
    if (rows.status(own.taken) === 'ok') own.shared.add(c)
  }
  own.auto = undefined
  return own
}

/** What can be the baseline: series keys of the implementations that have rows. */
export const baselineKeys = (rows: RowSource): string[] => [...lookThrough(rows).keys.keys()]

/** What the column that chooses by itself compares with; before any two implementations share a case, what a device prefers. */
export function autoOf(rows: RowSource): AutoBaselines {
  const own = lookThrough(rows)
  if (!own.auto) {
    const found = autoBaselinesOf(own.shared)
    own.auto = { ...found, all: found.all ?? defaultBaseline([...own.keys.values()], preferred.get(rows) ?? []) }
  }
  return own.auto
}

function baseline(rows: RowSource, row: number, key: string | undefined): Baseline | undefined {
  const wanted = key ?? autoBaselineOf(autoOf(rows), processorOf(rows.case(row).device))
  if (wanted === undefined) return undefined
  const { baselines } = lookThrough(rows)
  let found = baselines.get(wanted)
  if (!found) baselines.set(wanted, (found = { rows: new Baseline(wanted), taken: 0 }))
  for (; found.taken < rows.length; found.taken++) found.rows.add({ case: rows.case(found.taken), index: found.taken, ok: rows.status(found.taken) === 'ok', run: runOf(rows, found.taken) })
  return found.rows
}

const runOf = (rows: RowSource, row: number): number | undefined => {
  const run = rows.number(row, 'run')
  return Number.isNaN(run) ? undefined : run
}

/** The time of a row, with its interval and what its interleaved rounds say. */
export function timingOf(rows: RowSource, row: number): Timing {
  const [ciLowNs, ciHighNs] = [rows.number(row, 'ciLowNs'), rows.number(row, 'ciHighNs')]
  const rounds = rows.rounds(row)
  return { medianNs: rows.number(row, 'medianNs'), ...(Number.isFinite(ciLowNs) && Number.isFinite(ciHighNs) ? { ciLowNs, ciHighNs } : {}), ...(rounds ? { rounds } : {}) }
}

type Speedup = { ok: true; base: number; ratio: RatioOfMedians } | { ok: false; reason: string }

function speedup(rows: RowSource, row: number, key: string | undefined): Speedup {
  if (rows.status(row) !== 'ok') return { ok: false, reason: 'Only results that passed verification have a speedup.' }
  const match = baseline(rows, row, key)?.of(rows.case(row), runOf(rows, row)) ?? { ok: false as const, reason: 'Nothing has been measured yet.' }
  if (!match.ok) return match
  const ratio = speedupOf(timingOf(rows, row), timingOf(rows, match.index))
  return ratio ? { ok: true, base: match.index, ratio } : { ok: false, reason: 'A median is missing.' }
}

function build(key: string | undefined): NumberColumn {
  return {
    id: speedupId(key),
    title: key === undefined ? 'Speedup' : `vs ${baselineTitle(key)}`,
    about: 'Speedup over the baseline on the same operation, shape, dtype and mode: above 1 is faster. Dimmed where it is not reliable: the CI of interleaved rounds is wide, or without rounds a grade is C. The CI is on hover. The menu beside it chooses the baseline',
    kind: 'number', quantity: 'speedup', suffix: 'x', width: 128,
    head: (rows) => {
      // Each kind of processor has its own; the tooltip of a figure names it.
      if (key === undefined && isSplit(autoOf(rows))) return 'vs baseline'
      const title = key === undefined ? autoBaselineTitle(autoOf(rows)) : baselineTitle(key)
      return title === undefined ? 'Speedup' : `vs ${title}`
    },
    value: (rows, row) => {
      const found = speedup(rows, row, key)
      return found.ok ? found.ratio.ratio : NaN
    },
    interval: (rows, row) => {
      const found = speedup(rows, row, key)
      return found.ok && found.ratio.low !== undefined && found.ratio.high !== undefined ? { low: found.ratio.low, high: found.ratio.high } : undefined
    },
    hover: (rows, row) => {
      const found = speedup(rows, row, key)
      if (!found.ok) return undefined
      const { ratio: { ratio, low, high }, base } = found
      const c = rows.case(base)
      const across = processorOf(c.device) === processorOf(rows.case(row).device) ? '' : ', another kind of processor'
      return `${formatRatio(ratio)}${low === undefined || high === undefined ? '' : `, 95 % CI ${formatRatio(low)} to ${formatRatio(high)}`}; baseline ${formatTime(rows.number(base, 'medianNs'))}, ${c.backend} ${c.impl} on ${c.device}${across}`
    },
    doubt: (rows, row) => {
      const found = speedup(rows, row, key)
      if (found.ok && rows.number(row, 'roundsGroup') === rows.number(found.base, 'roundsGroup')) {
        const { ratio, low, high } = found.ratio
        return ratioGrade({ ratio, ...(low === undefined || high === undefined ? {} : { interval: { low, high } }) }).grade === 'C' ? 'Unreliable: the 95 % CI of paired rounds is wider than ±3 %.' : undefined
      }
      const graded = found.ok ? [[row, 'this result'], [found.base, 'the baseline']] as const : []
      const poor = graded.filter(([at]) => rows.grade(at) === 'C').map(([, name]) => name)
      return poor.length ? `Unreliable: grade C of ${poor.join(' and ')}.` : undefined
    },
    absence: (rows, row) => {
      const found = speedup(rows, row, key)
      return found.ok ? undefined : found.reason
    },
  }
}

/** Against PyTorch where it was measured, else against what the device prefers. */
export const AUTO_SPEEDUP = build(undefined)
const built = new Map<string, NumberColumn>()

/** The column of an id such as `speedup:cpu/avx2`; undefined for other ids. */
export function speedupColumn(id: string): NumberColumn | undefined {
  const key = baselineOfId(id)?.key
  if (key === undefined) return undefined
  let column = built.get(key)
  if (!column) built.set(key, (column = build(key)))
  return column
}
