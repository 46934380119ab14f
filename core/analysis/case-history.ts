import { z } from 'zod'
import type { BenchmarkCase } from '../case'
import type { Grade } from '../result'
import type { Environment } from '../session/types'

/** What of a machine makes its times what they are, in short: kept beside each session so that thousands are read fast. */
export const machineSchema = z.object({
  host: z.string(),
  os: z.string(),
  kernel: z.string(),
  cpu: z.string(),
  appVersion: z.string(),
  devices: z.array(z.object({ backend: z.string(), id: z.string(), name: z.string(), driver: z.string().nullish() })),
})
export type Machine = z.infer<typeof machineSchema>

export const machineOf = ({ host, os, kernel, cpu, appVersion, devices }: Environment): Machine => ({
  host, os, kernel, cpu, appVersion,
  devices: devices.map(({ backend, id, name, driver }) => ({ backend, id, name, ...(driver === undefined ? {} : { driver }) })),
})

/** Facts of the place by title, in one order: machine, device, driver, system, version. */
export type Place = readonly (readonly [title: string, value: string])[]

/** One case in one session. */
export interface CasePoint {
  sessionId: string
  name: string
  /** When the session was made, ISO 8601. */
  createdAt: string
  /** One result of the case there: the first where it was measured several times. */
  resultId: string
  /** ns per call; of several results the median of their medians, and the widest interval. */
  medianNs: number
  ciLowNs?: number
  ciHighNs?: number
  /** The worst of its results'. */
  grade?: Grade
  /** How often it was measured in this session. */
  results: number
  /** The same object for sessions of the same place. */
  place: Place
}

export interface CaseHistory {
  /** Absent where no session knows such a case. */
  case?: BenchmarkCase
  /** Sessions with a valid measurement, oldest first. */
  points: CasePoint[]
  /** Results of the case that are no valid measurement. */
  failed: number
}

interface Packed extends Omit<CaseHistory, 'points'> {
  places: Place[]
  /** `place`: index into places. */
  points: (Omit<CasePoint, 'place'> & { place: number })[]
}

/** A history for the way from main to the page, where one text is copied far faster than thousands of objects; places stand in it once. */
export function packCaseHistory({ points, ...rest }: CaseHistory): string {
  const places = new Map<Place, number>()
  const placed = points.map((point) => {
    if (!places.has(point.place)) places.set(point.place, places.size)
    return { ...point, place: places.get(point.place)! }
  })
  return JSON.stringify({ ...rest, places: [...places.keys()], points: placed } satisfies Packed)
}

/** The history that `packCaseHistory` was given. */
export function unpackCaseHistory(packed: string): CaseHistory {
  const { places, points, ...rest } = JSON.parse(packed) as Packed
  return { ...rest, points: points.map((point) => ({ ...point, place: places[point.place]! })) }
}

/** The facts of a machine that bear on a case of this backend and device; a processor that is the device itself is named once. */
export function placeOf(machine: Machine, backend: string, deviceId: string): Place {
  const device = machine.devices.find((each) => each.backend === backend && each.id === deviceId)
  const facts: [string, string | null | undefined][] = [
    ['Machine', machine.host], ['Processor', machine.cpu], ['Device', device?.name === machine.cpu ? undefined : device?.name], ['Driver', device?.driver], ['Operating system', machine.os], ['Kernel', machine.kernel], ['Opscope', machine.appVersion],
  ]
  return facts.filter((fact): fact is [string, string] => typeof fact[1] === 'string' && fact[1] !== '')
}

/** Where the place of a series changed. */
export interface PlaceChange {
  /** Index of the first point in the new place. */
  at: number
  /** `Driver: 560.35 → 570.86`, one for each fact; a fact that only one side knows is no change. */
  facts: string[]
}

/** Changes of the environment along a history. */
export function placeChanges(points: readonly Pick<CasePoint, 'place'>[]): PlaceChange[] {
  return points.flatMap(({ place }, at) => {
    if (points[at - 1]?.place === place) return []
    const before = new Map(points[at - 1]?.place ?? [])
    const facts = place.flatMap(([title, value]) => {
      const earlier = before.get(title)
      return earlier === undefined || earlier === value ? [] : [`${title}: ${earlier} → ${value}`]
    })
    return facts.length > 0 ? [{ at, facts }] : []
  })
}
