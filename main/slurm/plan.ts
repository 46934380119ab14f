import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { MAX_SESSION_NAME } from '@core/session/types'
import type { Shard } from '@core/fleet/shard'

const text = z.string().max(4000)

/** The options of `run` that pick a sweep, as typed: each machine plans them for the devices it has. */
export const planOptionsSchema = z.strictObject({
  ops: text.optional(), sizes: text.optional(), dtypes: text.optional(), backends: text.optional(), devices: text.optional(), impls: text.optional(), threads: text.optional(), modes: text.optional(), parts: text.optional(),
  preset: text.optional(), rule: text.optional(), ci: text.optional(), minSamples: text.optional(), minSeconds: text.optional(), maxSeconds: text.optional(), repeats: text.optional(), energy: z.union([text, z.boolean()]).optional(), rounds: z.union([text, z.boolean()]).optional(),
})
export type PlanOptions = z.infer<typeof planOptionsSchema>

/** Characters of a plan's name: those of its sessions say the shard too. */
export const MAX_PLAN_NAME = MAX_SESSION_NAME - 40

const planSchema = z.strictObject({ opscopePlan: z.literal(1), name: z.string().min(1).max(MAX_PLAN_NAME), tasks: z.number().int().positive(), options: planOptionsSchema })

/** A sweep that many machines measure, as a file. */
export type Plan = z.infer<typeof planSchema> & {
  /** Of its contents. */
  id: string
}

/** Reads a plan's file. Throws naming the file and the reason. */
export function readPlan(path: string): Plan {
  try {
    const content = readFileSync(path, 'utf8')
    return { ...planSchema.parse(JSON.parse(content)), id: createHash('sha256').update(content).digest('hex').slice(0, 12) }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw new Error(`cannot read the plan ${path}: ${isMissing ? 'there is no such file' : error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** The text of a plan's file. Throws where the tasks could not read it. */
export const planText = (plan: Omit<Plan, 'id' | 'opscopePlan'>): string => `${JSON.stringify(planSchema.parse({ opscopePlan: 1, ...plan }), undefined, 2)}\n`

/** Name of the session of a shard: by it a task that is started again finds what it has measured. */
export const shardSession = (plan: Plan, { index, count }: Shard): string => `${plan.name} (shard ${index}/${count}, plan ${plan.id})`
