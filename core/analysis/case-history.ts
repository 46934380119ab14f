import { z } from 'zod'
import { benchmarkCaseSchema } from '../case'
import { gradeSchema } from '../result'
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

/** One case in one session. */
export const casePointSchema = z.object({
  sessionId: z.string(),
  name: z.string(),
  /** When the session was made, ISO 8601. */
  createdAt: z.string(),
  /** One result of the case there: the first where it was measured several times. */
  resultId: z.string(),
  /** ns per call; of several results the median of their medians, and the widest interval. */
  medianNs: z.number(),
  ciLowNs: z.number().optional(),
  ciHighNs: z.number().optional(),
  /** The worst of its results'. */
  grade: gradeSchema.optional(),
  /** How often it was measured in this session. */
  results: z.number().int().positive(),
  /** Facts of the place by title, in one order: machine, device, driver, system, version. */
  place: z.array(z.tuple([z.string(), z.string()])),
})
export type CasePoint = z.infer<typeof casePointSchema>

export const caseHistorySchema = z.object({
  /** Absent where no session knows such a case. */
  case: benchmarkCaseSchema.optional(),
  /** Sessions with a valid measurement, oldest first. */
  points: z.array(casePointSchema),
  /** Results of the case that are no valid measurement. */
  failed: z.number().int().nonnegative(),
})
export type CaseHistory = z.infer<typeof caseHistorySchema>

/** The facts of a machine that bear on a case of this backend and device. */
export function placeOf(machine: Machine, backend: string, deviceId: string): [string, string][] {
  const device = machine.devices.find((each) => each.backend === backend && each.id === deviceId)
  const facts: [string, string | null | undefined][] = [
    ['Machine', machine.host], ['Processor', machine.cpu], ['Device', device?.name], ['Driver', device?.driver], ['Operating system', machine.os], ['Kernel', machine.kernel], ['Opscope', machine.appVersion],
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
    const before = new Map(points[at - 1]?.place ?? [])
    const facts = place.flatMap(([title, value]) => {
      const earlier = before.get(title)
      return earlier === undefined || earlier === value ? [] : [`${title}: ${earlier} → ${value}`]
    })
    return facts.length > 0 ? [{ at, facts }] : []
  })
}
