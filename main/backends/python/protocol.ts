import { z } from 'zod'
import { availabilitySchema, caseErrorCodeSchema, deviceStateSchema, implSchema, timerSchema } from '@core/backend'
import { dtypeSchema, modeSchema } from '@core/case'

/**
 * What the measurement process and a Python worker say to each other, on two pipes of their own (file descriptors 3, to
 * the worker, and 4, from it), so that nothing a library prints gets in between. A frame is
 *
 *   magic u32 0x4F505357 · header bytes u32 · payload bytes u32 (all little-endian) · header (UTF-8 JSON) · payload
 *
 * The worker answers each request once, in order; between, it may say that it is alive. A frame that is too large or does
 * not parse ends the worker.
 */
export const PROTOCOL_VERSION = 1
export const FRAME_MAGIC = 0x4f505357
export const MOST_HEADER_BYTES = 1 << 20
export const MOST_PAYLOAD_BYTES = 64 << 20

const id = z.number().int().nonnegative()
const fillSchema = z.object({ positive: z.boolean(), factor: z.number(), key0: z.number().int().nonnegative(), key1: z.number().int().nonnegative() })

export const toWorkerSchema = z.discriminatedUnion('do', [
  /** Say who you are and what you can compute with on this hardware; imports the libraries. `guest`: path of libopscope_guest. */
  z.object({ id, do: z.literal('hello'), protocol: z.literal(PROTOCOL_VERSION), hardware: z.enum(['cpu', 'cuda']), ordinal: z.number().int().nonnegative(), guest: z.string() }),
  z.object({
    id,
    do: z.literal('open'),
    op: z.string(),
    impl: z.string(),
    dtype: dtypeSchema,
    threads: z.number().int().positive().optional(),
    rotated: z.boolean(),
    /** Parameters of the case as core/ops has them, and the kernel integers of core/ops dims. */
    params: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
    dims: z.array(z.number().int()),
    inputs: z.array(fillSchema.extend({ shape: z.array(z.number().int().nonnegative()), elements: z.number().int().nonnegative() })),
    outputShape: z.array(z.number().int().nonnegative()),
    outputElements: z.number().int().nonnegative(),
  }),
  z.object({ id, do: z.literal('refill'), inputs: z.array(fillSchema) }),
  z.object({ id, do: z.literal('poison') }),
  z.object({ id, do: z.literal('run') }),
  z.object({ id, do: z.literal('countUnwritten') }),
  /** Payload of the answer: raw elements. */
  z.object({ id, do: z.literal('read'), start: z.number().int().nonnegative(), count: z.number().int().positive() }),
  /** Payload of the answer: float64 arrays one after another, in the order of `arrays`, `count` each. */
  z.object({ id, do: z.literal('sample'), mode: modeSchema, count: z.number().int().positive(), inner: z.number().int().positive() }),
  z.object({ id, do: z.literal('close') }),
])
export type ToWorker = z.infer<typeof toWorkerSchema>

export const packageSchema = z.object({ name: z.string().max(40), version: z.string().max(80).optional(), detail: z.string().max(200).optional(), problem: z.string().max(2000).optional() })

export const answersSchema = {
  hello: z.object({ protocol: z.literal(PROTOCOL_VERSION), python: z.string().max(80), packages: z.array(packageSchema).max(20), impls: z.array(implSchema).max(20) }),
  /** `notes`: facts that belong on the result, such as an allocation inside the timed call. */
  open: z.object({ timer: timerSchema, tickNs: z.number().positive(), notes: z.array(z.string().max(400)).max(10), caseBytes: z.number().nonnegative(), deviceDeltaBytes: z.number().optional() }),
  refill: z.object({}),
  poison: z.object({}),
  run: z.object({ libraryPeakBytes: z.number().nonnegative().optional() }),
  countUnwritten: z.object({ count: z.number().int().nonnegative() }),
  read: z.object({}),
  sample: z.object({ count: z.number().int().positive(), arrays: z.array(z.enum(['samplesNs', 'clockMhz', 'probeNs'])), state: deviceStateSchema, hostCallNs: z.number().nonnegative().optional() }),
  close: z.object({}),
} satisfies Record<ToWorker['do'], z.ZodType>
export type Answer<D extends ToWorker['do']> = z.infer<(typeof answersSchema)[D]>

/** Envelope of what a worker says; `answer` is parsed by what was asked. */
export const fromWorkerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alive'), id, doing: z.string().max(200) }),
  z.object({ type: z.literal('answer'), id, answer: z.unknown() }),
  z.object({ type: z.literal('failure'), id, code: caseErrorCodeSchema, message: z.string().max(4000), detail: z.string().max(20000).optional() }),
])

const impls = z.array(implSchema).max(20)

/** What a probe of an interpreter prints as one JSON object: `cpu` and `cuda` are what it reaches at all, `impls` what it computes there. */
export const probeSchema = z.object({ python: z.string().max(80), prefix: z.string().max(1000), packages: z.array(packageSchema).max(20), cpu: availabilitySchema, cuda: availabilitySchema, impls: z.object({ cpu: impls, cuda: impls }) })
export type Probe = z.infer<typeof probeSchema>
