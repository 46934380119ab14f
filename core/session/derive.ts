import { z } from 'zod'
import type { BenchmarkCase } from '../case'

/** What a session can be split by: each value becomes a session. */
export const SPLIT_AXES = ['op', 'backend', 'device', 'impl', 'dtype', 'mode'] as const
const splitAxisSchema = z.enum(SPLIT_AXES)
export type SplitAxis = z.infer<typeof splitAxisSchema>

/** How to split: by a property of the cases, or into one session with the results named. */
export const splitSchema = z.union([z.object({ by: splitAxisSchema }), z.object({ results: z.array(z.string().min(1).max(64)).min(1).max(200_000) })])
export type Split = z.infer<typeof splitSchema>

/** Which part a case belongs to. Implementations are named with their backend, since two backends may have the same. */
export const partOf = (c: BenchmarkCase, by: SplitAxis): string => (by === 'impl' ? `${c.backend} ${c.impl}` : c[by])
