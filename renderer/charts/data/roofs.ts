import { DTYPES } from '@core/case'
import type { BenchmarkCase } from '@core/case'
import { ceilingKind, choiceTitle, flopsKind, isUsable, splitKind, type KnownCeiling, type ProcessorChoice } from '@core/roofline/ceilings'
import { datasheetValue } from '@core/roofline/datasheet'

/** The ceilings that are roofs: copy bandwidth and peak rates, of the whole device and of single levels and thread counts. Launches, caches, single copies and ceilings that are too uncertain are none. */
export const measuredRoofs = (ceilings: readonly KnownCeiling[]): Roof[] =>
  ceilings.filter(isUsable).flatMap(({ device, deviceName, kind: whole, value, unit, stale }) => {
    const { base: kind, choice } = splitKind(whole)
    return unit !== 's' && (kind === 'copy' || kind.startsWith('flops:')) ? [{ device, deviceName, kind, value, unit, ...(choice ? { choice } : {}), ...(stale === undefined ? {} : { stale }) }] : []
  })

/** The level and thread count by whose roofs a case on a processor is drawn; of a library the one with the highest peak on as many threads. Undefined: by those of the whole device. */
export function roofChoice(roofs: readonly Roof[], c: Pick<BenchmarkCase, 'device' | 'impl' | 'threads'>): ProcessorChoice | undefined {
  const own = roofs.filter(({ device, choice }) => device === c.device && choice !== undefined && choice.threads === c.threads)
  const exact = own.find(({ choice }) => choice!.impl === c.impl)
  if (exact || roofs.some(({ device, choice }) => device === c.device && choice?.impl === c.impl)) return exact?.choice
  return own.filter(({ kind }) => kind !== 'copy').reduce<Roof | undefined>((best, roof) => (best && best.value >= roof.value ? best : roof), undefined)?.choice
}

/** Whether two roofs hold for the same level and thread count. */
export const sameChoice = (a: ProcessorChoice | undefined, b: ProcessorChoice | undefined) => a?.impl === b?.impl && a?.threads === b?.threads

/** The roofs of one kind for these cases: of each device and choice that they are drawn by. */
export const roofsOfCases = (roofs: readonly Roof[], cases: readonly Pick<BenchmarkCase, 'device' | 'impl' | 'threads'>[]): Roof[] => {
  const wanted = cases.map((c) => ({ device: c.device, choice: roofChoice(roofs, c) }))
  return roofs.filter((roof) => wanted.some(({ device, choice }) => device === roof.device && sameChoice(choice, roof.choice)))
}

/** The roof of this kind that a case is drawn by. */
export const roofOfCase = (roofs: readonly Roof[], c: Pick<BenchmarkCase, 'device' | 'impl' | 'threads'>, kind: string): Roof | undefined => {
  const choice = roofChoice(roofs, c)
  return roofs.find((roof) => roof.device === c.device && roof.kind === kind && sameChoice(choice, roof.choice))
}

/** Measured bandwidths of caches (`kind` is `L2`), of the whole device and of single levels and thread counts, for slopes of the roofline. */
export const cacheRoofs = (ceilings: readonly KnownCeiling[]): Roof[] =>
  ceilings.filter(isUsable).flatMap(({ device, deviceName, kind, value, unit, stale }): Roof[] => {
    const { base, choice } = splitKind(kind)
    const cache = ceilingKind(base)
    return cache.is === 'cache' && cache.access === 'copy' && unit === 'bytes/s' ? [{ device, deviceName, kind: cache.name, value, unit, ...(choice ? { choice } : {}), ...(stale === undefined ? {} : { stale }) }] : []
  })

/** The published bandwidth and peaks of these devices, as far as their datasheets are known. */
export const datasheetRoofs = (devices: readonly { id: string; name: string }[]): Roof[] =>
  devices.flatMap(({ id, name }) =>
    ['copy', ...DTYPES.map(flopsKind)].flatMap((kind): Roof[] => {
      const value = datasheetValue(name, kind)
      return value === undefined ? [] : [{ device: id, deviceName: name, kind, value, unit: kind === 'copy' ? 'bytes/s' : 'FLOP/s' }]
    }),
  )

/** Roofs of one kind whose labels would overlap: a line each, and one label at the highest. */
export interface RoofGroup {
  /** From high to low. */
  values: number[]
  /** `AMD EPYC copy 21.0 GB/s`, or several of these. */
  label: string
}

const nameOf = (roof: Roof) => `${roof.deviceName}${roof.choice ? ` ${choiceTitle(roof.choice)}` : ''} ${roof.kind === 'copy' ? 'copy' : `${roof.kind.slice(6)} peak`}`

/** Groups roofs from high to low; neighbours within a factor `near` of the group's highest share its label. */
export function roofGroups(roofs: readonly Roof[], near: number, format: (value: number) => string): RoofGroup[] {
  const groups: Roof[][] = []
  for (const roof of [...roofs].sort((a, b) => b.value - a.value)) {
    const last = groups.at(-1)
    if (last && last[0]!.value / roof.value <= near) last.push(roof)
    else groups.push([roof])
  }
  return groups.map((group) => ({ values: group.map((roof) => roof.value), label: labelOf(group, format) }))
}

/** The same card through several backends is named once, and so is a value that they share. */
function labelOf(group: readonly Roof[], format: (value: number) => string): string {
  const values = new Map<string, Set<string>>()
  for (const roof of group) {
    const name = nameOf(roof)
    values.set(name, (values.get(name) ?? new Set()).add(`${format(roof.value)}${roof.stale ? ' (other driver)' : ''}`))
  }
  return [...values].map(([name, texts]) => `${name} ${[...texts].join(', ')}`).join(', ')
}

/** A roof of the roofline, measured or from a datasheet. `value` in bytes/s or FLOP/s. */
export interface Roof {
  device: string
  deviceName: string
  kind: string
  value: number
  unit: 'bytes/s' | 'FLOP/s'
  /** Level and threads of a processor that it holds for; absent: the whole device. */
  choice?: ProcessorChoice
  /** Why the figure may not be today's. */
  stale?: string
}
