import { z } from 'zod'
import { sweepSpecSchema, type SweepSpec } from './sweep-spec'

export const MAX_SWEEP_NAME = 80
/** Most sweeps that are kept under names, and most recent ones. */
export const MAX_SAVED_SWEEPS = 200
export const MAX_RECENT_SWEEPS = 8

/** Picks that the user keeps under a name of their own, unique among them. */
const savedSweepSchema = z.object({ name: z.string().trim().min(1).max(MAX_SWEEP_NAME), spec: sweepSpecSchema })
export type SavedSweep = z.infer<typeof savedSweepSchema>
export const savedSweepsSchema = z.array(savedSweepSchema).max(MAX_SAVED_SWEEPS)

/** Sweeps run lately, newest first. */
export const recentSweepsSchema = z.array(sweepSpecSchema).max(MAX_RECENT_SWEEPS)

const byName = (a: SavedSweep, b: SavedSweep) => a.name.localeCompare(b.name, 'en', { numeric: true })

/** The list with these picks under this name, by name; one of the same name is replaced. Throws RangeError where the name cannot be used or there is no room. */
export function withSweep(list: readonly SavedSweep[], name: string, spec: SweepSpec): SavedSweep[] {
  const wanted = name.trim()
  if (wanted === '') throw new RangeError('A saved sweep needs a name.')
  if (wanted.length > MAX_SWEEP_NAME) throw new RangeError(`The name of a saved sweep has at most ${MAX_SWEEP_NAME} characters.`)
  const others = list.filter((one) => one.name !== wanted)
  if (others.length >= MAX_SAVED_SWEEPS) throw new RangeError(`At most ${MAX_SAVED_SWEEPS} sweeps can be saved. Delete one first.`)
  return [...others, { name: wanted, spec }].sort(byName)
}

/** The list with one of them under another name. Throws RangeError where that name cannot be used or is taken. */
export function renameSweep(list: readonly SavedSweep[], from: string, to: string): SavedSweep[] {
  const wanted = to.trim()
  const sweep = list.find(({ name }) => name === from)
  if (!sweep || wanted === from) return [...list]
  if (list.some(({ name }) => name === wanted)) throw new RangeError(`There is already a saved sweep named “${wanted}”.`)
  return withSweep(list.filter((one) => one !== sweep), wanted, sweep.spec)
}

/** Keys in one order, so that equal picks have equal texts. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(ordered) : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).filter(([, own]) => own !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, own]) => [key, ordered(own)])) : value

/** Whether two sweeps pick the same. */
export const sameSweep = (a: SweepSpec, b: SweepSpec): boolean => JSON.stringify(ordered(a)) === JSON.stringify(ordered(b))

/** The recent sweeps once this one has been run. */
export const withRecent = (recent: readonly SweepSpec[], spec: SweepSpec): SweepSpec[] => [spec, ...recent.filter((one) => !sameSweep(one, spec))].slice(0, MAX_RECENT_SWEEPS)
