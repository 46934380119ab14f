import { z } from 'zod'
import type { BenchmarkCase } from '../case'
import { environmentDifferences } from './environment'
import type { Ceiling, Environment, NoiseFloor } from './types'

/** What a session can be split by: each value becomes a session. */
export const SPLIT_AXES = ['op', 'backend', 'device', 'impl', 'dtype', 'mode'] as const
const splitAxisSchema = z.enum(SPLIT_AXES)
export type SplitAxis = z.infer<typeof splitAxisSchema>

/** How to split: by a property of the cases, or into one session with the results named. */
export const splitSchema = z.union([z.object({ by: splitAxisSchema }), z.object({ results: z.array(z.string().min(1).max(64)).min(1).max(200_000) })])
export type Split = z.infer<typeof splitSchema>

/** Which part a case belongs to. Implementations are named with their backend, since two backends may have the same. */
export const partOf = (c: BenchmarkCase, by: SplitAxis): string => (by === 'impl' ? `${c.backend} ${c.impl}` : c[by])

/** A session that is to be merged with others. */
export interface MergePart {
  name: string
  environment: Environment
  /** `backend/device` of its results. */
  used: ReadonlySet<string>
}

/** One environment for the results of several sessions, and how theirs differ, one sentence each; or why there is none. */
export type MergedEnvironment = { ok: true; environment: Environment; differences: string[] } | { ok: false; reason: string }

/**
 * Results name their device by its id, so one session can hold only one device of each. Sessions whose results come
 * from different devices under the same id cannot be merged; other differences are told. The first session's
 * environment stands, with the devices, ceilings and noise floors that only the others know.
 */
export function mergeEnvironments(parts: readonly MergePart[]): MergedEnvironment {
  const [first, ...others] = parts
  if (!first || others.length === 0) return { ok: false, reason: 'Merging takes two sessions or more.' }
  const used = new Set(parts.flatMap((part) => [...part.used]))
  const known = new Map<string, { name: string; where: string }>()
  for (const part of parts) {
    for (const device of part.environment.devices) {
      const key = `${device.backend}/${device.id}`
      if (!part.used.has(key)) continue
      const before = known.get(key)
      if (before && before.name !== device.name) return { ok: false, reason: `${device.id} is ${before.name} in “${before.where}” and ${device.name} in “${part.name}”: in one session their results could not be told apart. Compare them instead.` }
      known.set(key, before ?? { name: device.name, where: part.name })
    }
  }
  const devices = new Map(first.environment.devices.map((device) => [`${device.backend}/${device.id}`, device]))
  // A device that the first session knew but did not measure gives way to one that was measured.
  for (const part of [first, ...others]) for (const device of part.environment.devices) {
    const key = `${device.backend}/${device.id}`
    if (!devices.has(key) || (part.used.has(key) && !first.used.has(key))) devices.set(key, device)
  }
  const ceilings = new Map<string, Ceiling>()
  for (const c of parts.flatMap((part) => part.environment.ceilings ?? [])) {
    const key = [c.backend, c.device, c.deviceName, c.driver, c.kind].join(' ')
    if (!ceilings.has(key)) ceilings.set(key, c)
  }
  const floors = new Map<string, NoiseFloor>()
  for (const floor of parts.flatMap((part) => part.environment.noiseFloors ?? [])) floors.set(JSON.stringify(floor), floor)
  return {
    ok: true,
    environment: { ...first.environment, devices: [...devices.values()], ...(floors.size > 0 ? { noiseFloors: [...floors.values()] } : {}), ...(ceilings.size > 0 ? { ceilings: [...ceilings.values()] } : {}) },
    differences: environmentDifferences(parts.map(({ name, environment }) => ({ name, environment })), used),
  }
}
