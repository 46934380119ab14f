import { z } from 'zod'
import { deviceSchema } from '../backend'
import { measureSettingsSchema } from '../measure/settings'
import { resultSchema, type Result } from '../result'
import { sweepSpecSchema } from './sweep-spec'

/** Version of the native session format; raise it with a step in core/session/upgrade.ts. */
export const SCHEMA_VERSION = 2

/** What a comparison of a case with itself shows on a device: differences this small are noise of the machine. */
export const noiseFloorSchema = z.object({
  backend: z.string(),
  device: z.string(),
  deviceName: z.string(),
  driver: z.string().optional(),
  measuredAt: z.string(),
  /** Pairs compared, and how many of them got a verdict other than same or ambiguous. */
  pairs: z.number().int().positive(),
  falseVerdicts: z.number().int().nonnegative(),
  /** Median and 95th percentile of |ratio - 1| over the pairs. */
  ratioP50: z.number().nonnegative(),
  ratioP95: z.number().nonnegative(),
  /** Session that holds the samples. */
  sessionId: z.string().max(64),
})
export type NoiseFloor = z.infer<typeof noiseFloorSchema>

/** A device's own limits, measured with the same loop as everything else; roofs of the roofline. */
export const ceilingSchema = z.object({
  backend: z.string(),
  device: z.string(),
  deviceName: z.string(),
  /** Driver it was measured under; ceilings are kept per device and driver. */
  driver: z.string().optional(),
  /**
   * `copy`: copy bandwidth beyond the caches. `copy:BYTES`: hot copy with a working set of that many bytes.
   * `cache:L2`: the best hot copy whose working set fits that cache; `cache:L2:read`, `cache:L2:write`. `flops:f32`. `launch:hot`, `launch:graph`,
   * `launch:cold`: time of a call that does next to nothing, in s. Of one level and thread count of a processor with both at its
   * end: `flops:f32@sse2/1`.
   */
  kind: z.string(),
  value: z.number().positive(),
  unit: z.enum(['bytes/s', 'FLOP/s', 's']),
  /** 95 % CI in the unit, where it is not that of the median of `result`: on a processor, whose ceilings are the lower decile of the times. */
  low: z.number().nonnegative().optional(),
  high: z.number().positive().optional(),
  measuredAt: z.string(),
  /** The measurement it comes from; with its samples where it was measured, with its statistics alone in the record of a session. */
  result: resultSchema,
})
export type Ceiling = z.infer<typeof ceilingSchema>

/** Facts about a machine and the program that measures on it. */
export const factsSchema = z.object({
  appVersion: z.string(),
  /** Hash of the sources that decide what is measured (electron.vite.config.ts): two builds of one version may differ. */
  code: z.string().max(64).optional(),
  host: z.string(),
  os: z.string(),
  kernel: z.string(),
  cpu: z.string(),
  logicalCpus: z.number().int().nonnegative(),
  memoryBytes: z.number().nonnegative(),
  node: z.string(),
  electron: z.string().optional(),
  chromium: z.string().optional(),
  /** Processor caches, one instance each: `L1d`, `L2`, `L3`, and how many instances there are. */
  caches: z.array(z.object({ name: z.string(), bytes: z.number().positive(), instances: z.number().int().positive() })).optional(),
  /** Frequency governor (`performance`), and whether boost is allowed, where the system tells. */
  governor: z.string().optional(),
  boost: z.boolean().optional(),
  /** `mains`, `battery`. */
  powerSource: z.string().optional(),
  /** Switches and variables that change what is measured: Chromium switches, CUDA_* and OPSCOPE_* variables. */
  switches: z.array(z.string()).optional(),
})

/** The machine a session was made on: facts in words, and the devices as they reported themselves. */
export const environmentSchema = factsSchema.extend({
  /** Other machines that devices of the session are in: their names in device ids, and their facts. */
  machines: z.array(z.object({ name: z.string().max(40), facts: factsSchema })).max(1000).optional(),
  /** Self-checks of these devices that were known when the session began. */
  noiseFloors: z.array(noiseFloorSchema).optional(),
  /** Measured limits of these devices that were known when the session began (core/roofline/ceilings/read.ts). */
  ceilings: z.array(ceilingSchema).max(2000).optional(),
  devices: z.array(deviceSchema),
})
export type Environment = z.infer<typeof environmentSchema>
export type MachineFacts = z.infer<typeof factsSchema>

/** `cancelled`: of a fleet, what was left was taken out of the queue. A session that is queued for a fleet is `running` while it is being queued, then `stopped`: nobody here measures it. */
export const sessionStateSchema = z.enum(['running', 'done', 'stopped', 'interrupted', 'cancelled'])
export type SessionState = z.infer<typeof sessionStateSchema>

/** Longest name of a session, in characters. */
export const MAX_SESSION_NAME = 200

export const sessionSchema = z.object({
  id: z.string().min(1).max(64),
  name: z.string().max(MAX_SESSION_NAME),
  createdAt: z.string(),
  notes: z.string().max(100_000),
  tags: z.array(z.string().max(60)).max(50),
  state: sessionStateSchema,
  /** Cases planned; more than the results while running or when stopped. */
  planned: z.number().int().nonnegative(),
  /** What a session is that no sweep made; `session` is the one it adds to. `merged` and `part`: results of other sessions. */
  about: z.object({ kind: z.enum(['ceilings', 'interleaved', 'self-check', 'merged', 'part', 'fleet']), session: z.string().max(64).optional() }).optional(),
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
  /** What of this line cannot be read, such as `tags and date`; absent where all of it can. */
  damaged: z.string().optional(),
})
export type SessionSummary = z.infer<typeof sessionSummarySchema>

/**
 * Whether what a session has left can be measured later. Blocks measured interleaved only tell something beside each
 * other: a interleaved comparison that was cut off is started anew.
 */
export const isResumable = ({ about }: Pick<Session, 'about'>): boolean => about === undefined || about.kind === 'ceilings'

/** Whether it has cases left that can be measured later. */
export const isUnfinished = (session: Pick<Session, 'about' | 'state' | 'planned'> & { results: number }): boolean =>
  isResumable(session) && session.state !== 'done' && session.state !== 'running' && session.results < session.planned

/** A session whose results come one at a time in their order, as often as they are gone through: memory need not hold them all. A SessionFile is one. */
export type SessionStream = Omit<SessionFile, 'results'> & { results: ResultStream }

/** Iterating twice gives the same results. */
export interface ResultStream extends Iterable<Result> {
  /** How many there are. */
  readonly length: number
}

/** The same with each result as `change` gives it when it is reached. */
export const mapResults = (results: ResultStream, change: (result: Result) => Result): ResultStream => ({
  length: results.length,
  *[Symbol.iterator]() {
    for (const result of results) yield change(result)
  },
})

/** All of it in memory. */
export const wholeSession = (session: SessionStream): SessionFile => ({ ...session, results: [...session.results] })
