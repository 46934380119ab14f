import { z } from 'zod'
import { benchmarkCaseSchema } from './case'
import { callCountersSchema, caseErrorCodeSchema, deviceStateSchema, kernelLaunchSchema, timerSchema } from './backend'

/**
 * ok: measured, verification passed. wrong: verification failed (kept, never ranked). inaccurate: a right answer of less
 * accuracy than ranking asks for (kept with its figures, never ranked). failed: ended with an error.
 * skipped: not tried, with the reason. crashed: its process died. timeout: it hung and was ended. Histories keep the place in
 * this list: new ones go to its end.
 */
export const STATUSES = ['ok', 'wrong', 'failed', 'skipped', 'crashed', 'timeout', 'inaccurate'] as const
export const statusSchema = z.enum(STATUSES)
export type Status = z.infer<typeof statusSchema>

/** Statuses as tables and reports say them. */
const STATUS_WORDS: Readonly<Record<Status, string>> = { ok: 'ok', wrong: 'verification failed', failed: 'failed', skipped: 'skipped', crashed: 'crashed', timeout: 'timed out', inaccurate: 'inaccurate' }
export const statusWord = (status: Status): string => STATUS_WORDS[status]

/**
 * Statistics of one case's samples, all in ns per call. A field that needs more samples than there were is absent. What
 * another tool states may have little more than the median, and no count of samples.
 */
export const summarySchema = z.object({
  count: z.number().int().positive().optional(),
  medianNs: z.number().nonnegative(),
  /** 95 % CI of the median (core/stats/serial.ts). */
  ciLowNs: z.number().nonnegative().optional(),
  ciHighNs: z.number().nonnegative().optional(),
  /** How many times wider the interval is than it would be for independent samples; absent where nothing speaks against their independence. */
  ciWidened: z.number().positive().optional(),
  madNs: z.number().nonnegative().optional(),
  p05Ns: z.number().nonnegative().optional(),
  p25Ns: z.number().nonnegative().optional(),
  p75Ns: z.number().nonnegative().optional(),
  p95Ns: z.number().nonnegative().optional(),
  minNs: z.number().nonnegative().optional(),
  maxNs: z.number().nonnegative().optional(),
  meanNs: z.number().nonnegative().optional(),
  stddevNs: z.number().nonnegative().optional(),
  /** Tukey outliers: beyond 1.5 and beyond 3 interquartile ranges. Labelled, never removed. */
  mildOutliers: z.number().int().nonnegative().optional(),
  severeOutliers: z.number().int().nonnegative().optional(),
})
export type Summary = z.infer<typeof summarySchema>

/** Outcome of comparing an output with the float64 reference. */
const verificationSchema = z.object({
  /** Whether every bound is met. */
  ok: z.boolean(),
  /** Bounds are exceeded, but as by rounding: by little and all over (core/measure/verify/outcome.ts). Only where not ok. */
  inaccurate: z.boolean().optional(),
  /** ‖out − ref‖ / ‖ref‖ over the compared elements, or over the whole output by projections where that is more; absent when it is not a number. */
  relL2: z.number().nonnegative().optional(),
  maxAbs: z.number().nonnegative().optional(),
  maxUlp: z.number().nonnegative().optional(),
  /** Largest error of one element as a multiple of its bound; absent where that is infinite. */
  worstElement: z.number().nonnegative().optional(),
  tolerance: z.number().positive(),
  /** Elements compared with the reference one by one. */
  checkedElements: z.number().int().nonnegative(),
  totalElements: z.number().int().nonnegative(),
  /** Elements no kernel wrote, over the whole output. */
  unwritten: z.number().int().nonnegative(),
  /** NaN or infinite where the reference is finite, over the whole output. */
  nonFinite: z.number().int().nonnegative(),
  /** How values were compared: all elements; all through random projections of blocks, and a sample; a sample. Absent in old results, which are samples. */
  method: z.enum(['all', 'projection', 'sample']).optional(),
  /** Elements of a projected block. */
  blockElements: z.number().int().positive().optional(),
  /** Share of the faults of one tile (32x32 elements, or 1,024 in a row) that this check finds. */
  coverage: z.number().min(0).max(1).optional(),
  /** Seed of the sample and of the projections. */
  sampleSeed: z.number().int().nonnegative().optional(),
  /** The timed calls change what they read, so that the output of a further call on fresh inputs was checked. */
  fresh: z.boolean().optional(),
  /** Each output, where there are several; the rest is about the worst of them. */
  outputs: z
    .array(z.object({ name: z.string().max(60), ok: z.boolean(), inaccurate: z.boolean().optional(), relL2: z.number().nonnegative().optional(), tolerance: z.number().positive(), checkedElements: z.number().int().nonnegative(), totalElements: z.number().int().nonnegative() }))
    .optional(),
  /** Why it is not ok, in one sentence. */
  message: z.string().optional(),
})
export type Verification = z.infer<typeof verificationSchema>

/** A: converged, low noise. B: noisy. C: throttled, disturbed or not converged. Reasons stand in `gradeReasons`. */
export const gradeSchema = z.enum(['A', 'B', 'C'])
export type Grade = z.infer<typeof gradeSchema>

/**
 * Samples first .. first + count - 1 were taken while something was wrong: `throttled`, `slow-clock` (below 75 % of the
 * best clock of the case), `host-slowed` (the CPU probe beside them), `disturbed` (another process on the device).
 */
const sampleLabelSchema = z.object({
  kind: z.enum(['throttled', 'slow-clock', 'host-slowed', 'disturbed']),
  /** In words: `power limit`, `1230 of 1980 MHz`. */
  reason: z.string().max(400),
  first: z.number().int().nonnegative(),
  count: z.number().int().positive(),
})
export type SampleLabel = z.infer<typeof sampleLabelSchema>

/** Energy of one call, over windows of calls without rest (core/measure/energy). Idle power is included; `idleWatts` says how much that is. */
const energySchema = z.object({
  /** Mean over all windows, with its 95 % CI over the windows. */
  joulesPerCall: z.number().positive(),
  lowJ: z.number().nonnegative(),
  highJ: z.number().nonnegative(),
  windows: z.number().int().positive(),
  /** Of all windows together. */
  seconds: z.number().positive(),
  calls: z.number().int().nonnegative(),
  /** Mean power in the windows. */
  watts: z.number().positive(),
  /** Power of the device at rest, before. */
  idleWatts: z.number().nonnegative().optional(),
  /** The same energy by the integral of sampled power. */
  sampledJoulesPerCall: z.number().nonnegative().optional(),
  /** The counter, in words. */
  source: z.string().max(80),
})
export type Energy = z.infer<typeof energySchema>

export const resultSchema = z.object({
  id: z.string().min(1).max(64),
  case: benchmarkCaseSchema,
  status: statusSchema,
  /** What happened, for the user; always present unless ok. On an ok result: why its samples should not be trusted. */
  message: z.string().max(4000).optional(),
  /** The driver's or system's own words. */
  detail: z.string().max(20000).optional(),
  /** Sort of trouble, where the backend told it. */
  errorCode: caseErrorCodeSchema.optional(),
  /** ISO 8601 UTC. */
  startedAt: z.string(),
  /** Wall time of the whole case: set-up, verification, warm-up, sampling. */
  wallMs: z.number().nonnegative(),
  /** Sum of sample durations. */
  measuredMs: z.number().nonnegative(),
  /** Cost model of the case at the time it was measured. */
  bytes: z.number().nonnegative(),
  flops: z.number().nonnegative(),
  /** ns per call, in the order taken. */
  samplesNs: z.array(z.number().nonnegative()),
  /** Calls per sample. */
  inner: z.number().int().positive().optional(),
  timer: timerSchema.optional(),
  tickNs: z.number().positive().optional(),
  summary: summarySchema.optional(),
  /** Before timing, and of the timed buffer after it. */
  verification: verificationSchema.optional(),
  verificationAfter: verificationSchema.optional(),
  converged: z.boolean().optional(),
  /** Why sampling ended, e.g. `95 % CI within ±2 %`. */
  stopReason: z.string().optional(),
  grade: gradeSchema.optional(),
  gradeReasons: z.array(z.string()).optional(),
  notes: z.array(z.string()).optional(),
  /** Figures of another tool's file that no field here stands for, under that tool's names: `gpu_efficiency` 87.5. */
  stated: z.record(z.string().max(60), z.number()).optional(),
  /** State of the device around each batch, with the index of the batch's first sample. */
  deviceStates: z.array(z.object({ firstSample: z.number().int().nonnegative(), state: deviceStateSchema })).optional(),
  /** SM clock in MHz and CPU probe time in ns beside each sample, where the backend has them; one per sample. */
  clocksMhz: z.array(z.number().nonnegative()).optional(),
  probesNs: z.array(z.number().nonnegative()).optional(),
  /** Why samples are left out of the statistics. Every sample is kept. */
  labels: z.array(sampleLabelSchema).optional(),
  /** Which fresh-process repeat of the sweep this is, from 0; absent when there is one. */
  run: z.number().int().nonnegative().optional(),
  /** Place in an interleaved comparison: ABBA block `quad` of `pair`; places 0 and 3 are side a, 1 and 2 side b. */
  block: z.object({ pair: z.string().max(80), quad: z.number().int().nonnegative(), place: z.number().int().min(0).max(3) }).optional(),
  /**
   * Where the implementations of one case were measured in interleaved rounds: `group` is that of all results of these rounds, the
   * samples of round `numbers[i]` begin at `firstSamples[i]`. Even rounds go through the implementations in order, odd ones back.
   * `firstRounds`: where in `numbers` each pass begins, in which the case was opened anew. `ratio`: this time over that of the group's first implementation, from rounds paired, with its 95 % CI.
   */
  rounds: z.object({
    group: z.number().int().nonnegative(),
    numbers: z.array(z.number().int().nonnegative()).max(10_000),
    firstSamples: z.array(z.number().int().nonnegative()).max(10_000),
    firstRounds: z.array(z.number().int().nonnegative()).max(10_000).optional(),
    ratio: z.object({ ratio: z.number().positive(), low: z.number().positive().optional(), high: z.number().positive().optional() }).optional(),
  }).optional(),
  caseBytes: z.number().nonnegative().optional(),
  deviceDeltaBytes: z.number().optional(),
  /** As in MemoryUse (core/backend.ts). */
  libraryPeakBytes: z.number().nonnegative().optional(),
  /** Time in ns the host took to issue one call, median of the batches; not in the samples. */
  hostCallNs: z.number().nonnegative().optional(),
  /** The kernels of one call in their order: of CUDA, where they are Opscope's own. */
  launches: z.array(kernelLaunchSchema).max(64).optional(),
  /** Where it was asked for and could be measured; else a note says why not. */
  energy: energySchema.optional(),
  /** What the processor counted of a call, on calls beside the timed ones. */
  counters: callCountersSchema.optional(),
  seed: z.number().int().nonnegative(),
})
export type Result = z.infer<typeof resultSchema>
