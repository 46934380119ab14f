import { z } from 'zod'

/** Something the check of the history found. A note costs room only; an error makes something unreadable. */
export const fileFindingSchema = z.object({ level: z.enum(['error', 'note']), message: z.string(), detail: z.string().optional() })
export type FileFinding = z.infer<typeof fileFindingSchema>

/** What was looked at, and what is wrong with it: nothing where there are no findings. */
export const checkReportSchema = z.object({
  findings: z.array(fileFindingSchema),
  sessions: z.number().int().nonnegative(),
  results: z.number().int().nonnegative(),
  /** Size of the file. */
  bytes: z.number().nonnegative(),
  ms: z.number().nonnegative(),
})
export type CheckReport = z.infer<typeof checkReportSchema>

/** A file that holds a history, and how much. */
export const historyFileSchema = z.object({ name: z.string(), sessions: z.number().int().nonnegative(), results: z.number().int().nonnegative(), bytes: z.number().nonnegative() })
export type HistoryFile = z.infer<typeof historyFileSchema>

/** How far a check, backup or restore is: a step in words, and its share from 0 to 1 where it can be told. */
export const maintenanceProgressSchema = z.object({ step: z.string(), share: z.number().min(0).max(1).optional() })
export type MaintenanceProgress = z.infer<typeof maintenanceProgressSchema>
