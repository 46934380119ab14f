import { z } from 'zod'
import { MAX_NAME, renameNamed, withNamed } from '../named'
import { sweepSpecSchema, type SweepSpec } from '../sweep-spec'

/** Most sweeps that are kept under names, and most recent ones. */
export const MAX_SAVED_SWEEPS = 200
export const MAX_RECENT_SWEEPS = 8

/** Picks that the user keeps under a name of their own, unique among them. */
const savedSweepSchema = z.object({ name: z.string().trim().min(1).max(MAX_NAME), spec: sweepSpecSchema })
export type SavedSweep = z.infer<typeof savedSweepSchema>
export const savedSweepsSchema = z.array(savedSweepSchema).max(MAX_SAVED_SWEEPS)

/** Sweeps run lately, newest first. */
export const recentSweepsSchema = z.array(sweepSpecSchema).max(MAX_RECENT_SWEEPS)

const KIND = { word: 'saved sweep', most: MAX_SAVED_SWEEPS }

/** The list with these picks under this name (withNamed). */
export const withSweep = (list: readonly SavedSweep[], name: string, spec: SweepSpec): SavedSweep[] => withNamed(list, { name, spec }, KIND)

/** The list with one of them under another name (renameNamed). */
export const renameSweep = (list: readonly SavedSweep[], from: string, to: string): SavedSweep[] => renameNamed(list, from, to, KIND)

/** Keys in one order, so that equal picks have equal texts. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(ordered) : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).filter(([, own]) => own !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, own]) => [key, ordered(own)])) : value

/** Whether two sweeps pick the same. */
export const sameSweep = (a: SweepSpec, b: SweepSpec): boolean => JSON.stringify(ordered(a)) === JSON.stringify(ordered(b))

/** The recent sweeps once this one has been run. */
export const withRecent = (recent: readonly SweepSpec[], spec: SweepSpec): SweepSpec[] => [spec, ...recent.filter((one) => !sameSweep(one, spec))].slice(0, MAX_RECENT_SWEEPS)
