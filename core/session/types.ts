import { z } from 'zod'
import { deviceSchema } from '../backend'
import { resultSchema } from '../result'
import { measureSettingsSchema } from '../measure/settings'
import { sweepSpecSchema } from '../sweep/types'

/** Version of the native session format; raise it with a step in core/session/upgrade.ts. */
export const SCHEMA_VERSION = 1

/** The machine a session was made on: facts in words, and the devices as they reported themselves. */
export const environmentSchema = z.object({
  appVersion: z.string(),
  host: z.string(),
  os: z.string(),
  kernel: z.string(),
  cpu: z.string(),
  logicalCpus: z.number().int().nonnegative(),
  memoryBytes: z.number().nonnegative(),
  node: z.string(),
  electron: z.string().optional(),
  chromium: z.string().optional(),
  devices: z.array(deviceSchema),
})
export type Environment = z.infer<typeof environmentSchema>

export const sessionStateSchema = z.enum(['running', 'done', 'stopped', 'interrupted'])
export type SessionState = z.infer<typeof sessionStateSchema>

export const sessionSchema = z.object({
  id: z.string().min(1).max(64),
  name: z.string().max(200),
  createdAt: z.string(),
  notes: z.string().max(100_000),
  tags: z.array(z.string().max(60)).max(50),
  state: sessionStateSchema,
  /** Cases planned; more than the results while running or when stopped. */
  planned: z.number().int().nonnegative(),
  spec: sweepSpecSchema.optional(),
  settings: measureSettingsSchema.optional(),
})
export type Session = z.infer<typeof sessionSchema>

/** A whole session as one file: the native JSON format. Round trip is exact to the bit. */
export const sessionFileSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  session: sessionSchema,
  environment: environmentSchema,
  results: z.array(resultSchema),
})
export type SessionFile = z.infer<typeof sessionFileSchema>

/** A line of the history list. */
export const sessionSummarySchema = sessionSchema.omit({ spec: true, settings: true }).extend({
  results: z.number().int().nonnegative(),
  failures: z.number().int().nonnegative(),
  ops: z.array(z.string()),
  devices: z.array(z.string()),
})
export type SessionSummary = z.infer<typeof sessionSummarySchema>

/** A device's own limits, measured with the same loop as everything else; roofs of the roofline. */
export const ceilingSchema = z.object({
  backend: z.string(),
  device: z.string(),
  deviceName: z.string(),
  /** `copy` in bytes/s, `flops:f32` and like in FLOP/s. */
  kind: z.string(),
  value: z.number().positive(),
  unit: z.enum(['bytes/s', 'FLOP/s']),
  measuredAt: z.string(),
  /** The measurement it comes from, samples included. */
  result: resultSchema,
})
export type Ceiling = z.infer<typeof ceilingSchema>
