import { z } from 'zod'
import { backUp, prepareRestore } from '../history/maintenance/backup'
import { checkFile } from '../history/maintenance/check'
import type { OnProgress } from '../history/maintenance/copy'

/** Work on a whole history file, which takes seconds for a large one. */
export const jobSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('check'), file: z.string() }),
  z.object({ kind: z.literal('backup'), file: z.string(), target: z.string() }),
  z.object({ kind: z.literal('prepare-restore'), backup: z.string(), file: z.string() }),
])
export type Job = z.infer<typeof jobSchema>

const JOBS = {
  check: (job: Job & { kind: 'check' }, onProgress: OnProgress) => checkFile(job.file, onProgress),
  backup: (job: Job & { kind: 'backup' }, onProgress: OnProgress) => backUp(job.file, job.target, onProgress),
  'prepare-restore': (job: Job & { kind: 'prepare-restore' }, onProgress: OnProgress) => prepareRestore(job.backup, job.file, onProgress),
}

/** What each kind of job gives. */
export type JobResult<K extends Job['kind']> = ReturnType<(typeof JOBS)[K]>

/** Does the job here and now. */
export function runJob<K extends Job['kind']>(job: Job & { kind: K }, onProgress: OnProgress): JobResult<K> {
  const run = JOBS[job.kind] as (job: Job, onProgress: OnProgress) => JobResult<K>
  return run(job, onProgress)
}

/** What the process that does a job says: progress, then one last word. */
export const fromJobSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), step: z.string(), share: z.number().optional(), growing: z.object({ file: z.string(), bytes: z.number() }).optional() }),
  z.object({ type: z.literal('done'), value: z.unknown() }),
  z.object({ type: z.literal('failed'), message: z.string() }),
])
export type FromJob = z.infer<typeof fromJobSchema>
