import { z } from 'zod'
import { availabilitySchema, caseErrorCodeSchema, deviceStateSchema, implSchema, timerSchema } from '@core/backend'
import { dtypeSchema, modeSchema, STORAGE_TYPES } from '@core/case'
import { LIMITS } from '@core/ops/define'

/**
 * What the measurement process and a Python worker say to each other, on two pipes of their own (file descriptors 3, to
 * the worker, and 4, from it), so that nothing a library prints gets in between. A frame is
 *
 *   magic u32 0x4F505357 · header bytes u32 · payload bytes u32 (all little-endian) · header (UTF-8 JSON) · payload
 *
 * The worker answers each request once, in order; between, it may say that it is alive. A frame that is too large or does
 * not parse ends the worker.
 */
export const PROTOCOL_VERSION = 3
export const FRAME_MAGIC = 0x4f505357
export const MAX_HEADER_BYTES = 1 << 20
export const MAX_PAYLOAD_BYTES = 64 << 20

const id = z.number().int().nonnegative()
const word = z.number().int().nonnegative()
/** FillWords of core/values/random.ts. */
const fillSchema = z.object({ kind: word, key0: word, key1: word, factor: z.number(), low: z.number().int(), below: word })
const tensorSchema = z.object({
  name: z.string(),
  shape: z.array(word),
  elements: word,
  storage: z.enum(STORAGE_TYPES),
  role: z.enum(['in', 'out', 'inout']),
  /** Of tensors that are not `out`. */
  fill: fillSchema.optional(),
})
/** Place of an output among the tensors that a call writes. */
const output = z.number().int().nonnegative()

export const toWorkerSchema = z.discriminatedUnion('do', [
  /** Say who you are; imports the libraries. `guest`: path of libopscope_guest. */
  z.object({ id, do: z.literal('hello'), protocol: z.literal(PROTOCOL_VERSION), hardware: z.enum(['cpu', 'cuda']), ordinal: z.number().int().nonnegative(), guest: z.string() }),
  z.object({
    id,
    do: z.literal('open'),
    op: z.string(),
    impl: z.string(),
    dtype: dtypeSchema,
    threads: z.number().int().positive().optional(),
    rotated: z.boolean(),
    /** Of operations that draw random numbers. */
    seed: word,
    /** Parameters of the case as core/ops has them, with the integers and real numbers that it hands to kernels. */
    params: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
    dims: z.array(z.number().int()).max(LIMITS.dims),
    scalars: z.array(z.number()).max(LIMITS.scalars),
    tensors: z.array(tensorSchema).min(1).max(LIMITS.tensors),
  }),
  /** One fill for each tensor that has one, in their order. */
  z.object({ id, do: z.literal('refill'), seed: word, fills: z.array(fillSchema) }),
  z.object({ id, do: z.literal('poison') }),
  z.object({ id, do: z.literal('run') }),
  z.object({ id, do: z.literal('scan') }),
  /** Payload of the answer: raw elements. */
  z.object({
    id, do: z.literal('read'), output, start: z.number().int().nonnegative(), count: z.number().int().positive(),
    /** Only these pieces of it, one after the other: elements after `start`, and how many. */
    pieces: z.array(z.tuple([z.number().int().nonnegative(), z.number().int().positive()])).min(1).optional(),
  }),
  /** Payload of the answer: float64 arrays one after another, in the order of `arrays`, `count` each. */
  z.object({ id, do: z.literal('sample'), mode: modeSchema, count: z.number().int().positive(), inner: z.number().int().positive() }),
  z.object({ id, do: z.literal('close') }),
])
export type ToWorker = z.infer<typeof toWorkerSchema>

export const packageSchema = z.object({ name: z.string().max(40), version: z.string().max(80).optional(), detail: z.string().max(200).optional(), problem: z.string().max(2000).optional() })

export const answersSchema = {
  hello: z.object({ protocol: z.literal(PROTOCOL_VERSION), python: z.string().max(80), packages: z.array(packageSchema).max(20) }),
  /** `notes`: facts that belong on the result, such as an allocation inside the timed call. */
  open: z.object({ timer: timerSchema, tickNs: z.number().positive(), notes: z.array(z.string().max(400)).max(10), caseBytes: z.number().nonnegative(), deviceDeltaBytes: z.number().optional() }),
  refill: z.object({}),
  poison: z.object({}),
  run: z.object({ libraryPeakBytes: z.number().nonnegative().optional() }),
  /** OutputScan of core/backend.ts for each output. */
  scan: z.object({ outputs: z.array(z.object({ unwritten: z.number().int().nonnegative(), nonFinite: z.number().int().nonnegative().optional() })) }),
  read: z.object({}),
  sample: z.object({ count: z.number().int().positive(), /** Calls in each sample, as made. */ inner: z.number().int().positive(), arrays: z.array(z.enum(['samplesNs', 'clockMhz', 'probeNs'])), state: deviceStateSchema, hostCallNs: z.number().nonnegative().optional() }),
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

/** magic, header bytes, payload bytes. */
const PREFIX_BYTES = 12

export interface Frame {
  /** Parsed JSON, otherwise unchecked. */
  header: unknown
  payload: Buffer
}

/** What arrived is no frame; `message` says what it is instead. */
export class FrameError extends Error {
  override name = 'FrameError'
}

/** A frame of this header without payload; see protocol.ts for its layout. */
export function encodeFrame(header: unknown, payload: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  if (text.length > MAX_HEADER_BYTES) throw new FrameError(`a header of ${text.length} bytes; at most ${MAX_HEADER_BYTES} are allowed`)
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32LE(FRAME_MAGIC, 0)
  prefix.writeUInt32LE(text.length, 4)
  prefix.writeUInt32LE(payload.length, 8)
  return Buffer.concat([prefix, text, payload])
}

/** Frames out of a stream, however it is cut into chunks. Holds no more than one frame of the allowed size. */
export class FrameReader {
  #chunks: Buffer[] = []
  #held = 0
  /** Bytes that must be there before the next look. */
  #needed = PREFIX_BYTES

  /** The frames that this chunk completes. Throws a FrameError at the first thing that is none; the stream is then lost. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    const frames: Frame[] = []
    while (this.#held >= this.#needed) {
      const held = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      const { header, payload } = sizesOf(held)
      const end = PREFIX_BYTES + header + payload
      if (held.length >= end) {
        frames.push({ header: parse(held.subarray(PREFIX_BYTES, PREFIX_BYTES + header)), payload: held.subarray(PREFIX_BYTES + header, end) })
        this.#keep(held.subarray(end), PREFIX_BYTES)
      } else this.#keep(held, end)
    }
    return frames
  }

  #keep(rest: Buffer, needed: number): void {
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#held = rest.length
    this.#needed = needed
  }
}

function sizesOf(prefix: Buffer): { header: number; payload: number } {
  const magic = prefix.readUInt32LE(0)
  if (magic !== FRAME_MAGIC) throw new FrameError(`something that is no frame: it begins with ${JSON.stringify(prefix.subarray(0, PREFIX_BYTES).toString('latin1'))}`)
  const header = prefix.readUInt32LE(4)
  const payload = prefix.readUInt32LE(8)
  if (header > MAX_HEADER_BYTES) throw new FrameError(`a frame with a header of ${header} bytes; at most ${MAX_HEADER_BYTES} are allowed`)
  if (payload > MAX_PAYLOAD_BYTES) throw new FrameError(`a frame with a payload of ${payload} bytes; at most ${MAX_PAYLOAD_BYTES} are allowed`)
  return { header, payload }
}

function parse(header: Buffer): unknown {
  const text = header.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    throw new FrameError(`a frame whose header is no JSON: ${JSON.stringify(text.slice(0, 80))}`)
  }
}
