import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { deviceSchema } from '@core/backend'
import { benchmarkCaseSchema } from '@core/case'
import { HOST_NAME } from '@core/fleet/place'
import { deviceActivitySchema } from '@core/fleet/state'
import { measureSettingsSchema } from '@core/measure/settings'
import { resultSchema } from '@core/result'
import { factsSchema } from '@core/session/types'

/** What passes over NATS, and where. Every message is parsed on arrival; one that does not parse costs that message. */

/** Work waits here until a device takes it; each message is one case. */
export const WORK_STREAM = 'OPSCOPE_WORK'
/** Results wait here until the history that asked for them has them. */
export const RESULT_STREAM = 'OPSCOPE_RESULTS'

const hashed = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const token = (text: string) => text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60)

/** A device in a subject: readable, and unlike that of any other device. */
export const laneOf = (host: string, backend: string, device: string): string => `${token(`${host}-${device}`)}-${hashed(`${host} ${backend} ${device}`)}`
/** All devices of one model and driver, which may take each other's work. */
export const modelLane = (backend: string, name: string, driver: string | undefined): string => `any-${token(name)}-${hashed(`${backend} ${name} ${driver ?? ''}`)}`

export const workSubject = (lane: string): string => `opscope.work.${lane}`
export const ALL_WORK = 'opscope.work.>'
export const resultSubject = (client: string): string => `opscope.results.${client}`
/** Results that the version of their history could not read; they wait for a version that can. */
export const unreadSubject = (client: string): string => `opscope.results.${client}.unread`
/** Header of a result: the version of the agent that measured it. */
export const VERSION_HEADER = 'Opscope-Version'
/** How often an agent tells what it does, in ms. */
export const PRESENCE_MS = 2000
/** Agents tell every few seconds what they do; nobody need listen. */
export const presenceSubject = (host: string): string => `opscope.agents.${token(host)}`
export const ALL_PRESENCE = 'opscope.agents.*'
/** Questions to all agents at once. */
export const ASK_SUBJECT = 'opscope.ask'
/** The agent of this name answers here, so that a second one of the name is refused. */
export const nameSubject = (host: string): string => `opscope.name.${token(host)}-${hashed(host)}`
/** Asks agents to take no more work: all, or the one named. */
export const DRAIN_SUBJECT = 'opscope.drain'
/** Asks agents to stop the case that they measure of a session, whose work was taken out of the queue. */
export const CANCEL_SUBJECT = 'opscope.cancel'

const id = z.string().regex(/^[\w-]{1,64}$/)

/** One case to measure on a device of an agent, which it is named as by that agent. */
export const workSchema = z.strictObject({
  version: z.literal(1),
  /** Whose history the result is for. */
  client: id,
  session: id,
  /** Id that the result will have: a case that is measured twice gives one result. */
  resultId: id,
  case: benchmarkCaseSchema,
  settings: measureSettingsSchema,
  sampleSeed: z.number().int().nonnegative().max(0xffffffff),
  expectedSeconds: z.number().positive().max(1e6),
  run: z.number().int().nonnegative().optional(),
})
export type Work = z.infer<typeof workSchema>

/** Enough of work to answer it, of other versions too. */
export const addressedSchema = z.object({ client: id, session: id, resultId: id, case: benchmarkCaseSchema, settings: measureSettingsSchema.pick({ seed: true }), run: workSchema.shape.run })

/** Whose history asked for what, and in which session. */
export const orderedSchema = addressedSchema.pick({ client: true, session: true })
export type Ordered = z.infer<typeof orderedSchema>

/** A result on its way home. */
export const deliverySchema = z.object({ version: z.literal(1), session: id, host: z.string().regex(HOST_NAME), result: resultSchema })
export type Delivery = z.infer<typeof deliverySchema>

/** Enough of a result to tell that it is one, of other versions too. */
const anyDeliverySchema = z.object({ host: deliverySchema.shape.host, result: z.object({ id }) }).or(z.object({ host: deliverySchema.shape.host.optional(), version: z.number().int().min(2) }))

const activitySchema = z.object({
  backend: z.string().max(40),
  device: z.string().max(80),
  name: z.string().max(200),
  driver: z.string().max(100).optional(),
  state: deviceActivitySchema,
  /** As last read beside samples. */
  smClockMhz: z.number().optional(),
  temperatureC: z.number().optional(),
  /** What it measures, in words, and for how long, in seconds. */
  current: z.string().max(400).optional(),
  seconds: z.number().nonnegative().optional(),
  measured: z.number().int().nonnegative(),
  /** Of a case here, or as its sender expects where none was measured yet. */
  meanSeconds: z.number().nonnegative().optional(),
})
export const presenceSchema = z.object({ version: z.literal(1), host: z.string().regex(HOST_NAME), opscope: z.string().max(100), draining: z.boolean(), leaving: z.boolean().optional(), devices: z.array(activitySchema).max(256) })
export type Presence = z.infer<typeof presenceSchema>

/** What an agent offers, in answer to a question. */
export const offerSchema = z.object({ version: z.literal(1), host: z.string().regex(HOST_NAME), facts: factsSchema, devices: z.array(deviceSchema).max(256) })
export type Offer = z.infer<typeof offerSchema>

export const drainSchema = z.object({ version: z.literal(1), host: z.string().max(40).optional() })
export const cancelSchema = orderedSchema.extend({ version: z.literal(1) })

/** Largest message as JSON: a result with a million samples. */
const MAX_JSON_BYTES = 2 ** 26

/** A message as bytes: JSON, compressed. */
export const pack = (message: unknown): Uint8Array => deflateRawSync(Buffer.from(JSON.stringify(message)))

/** Why a message was not understood, in one line. */
export function problemOf(error: unknown): string {
  const issue = error instanceof z.ZodError ? error.issues[0] : undefined
  const text = issue ? `${issue.path.join('.') || 'message'}: ${issue.message}` : error instanceof Error ? error.message : String(error)
  return text.slice(0, 300)
}

const jsonOf = (bytes: Uint8Array): unknown => JSON.parse(inflateRawSync(bytes, { maxOutputLength: MAX_JSON_BYTES }).toString('utf8'))

/** The message of these bytes. Throws where they are none, or it is not of the schema. */
export const unpack = <T>(schema: z.ZodType<T>, bytes: Uint8Array): T => schema.parse(jsonOf(bytes))

/** A result that has arrived. `unread`: it is one, and this version cannot read it. */
export type Arrival = { kind: 'result'; delivery: Delivery; /** Fields of the result that this version does not have. */ unknown: string[] } | { kind: 'unread'; host: string | undefined; problem: string }

/** Reads a result, of other versions too. Throws where the bytes are no result. */
export function unpackDelivery(bytes: Uint8Array): Arrival {
  const raw = jsonOf(bytes)
  const read = deliverySchema.safeParse(raw)
  if (read.success) return { kind: 'result', delivery: read.data, unknown: Object.keys((raw as { result: object }).result).filter((key) => !(key in resultSchema.shape)) }
  const known = anyDeliverySchema.safeParse(raw)
  if (!known.success) throw read.error
  return { kind: 'unread', host: known.data.host, problem: problemOf(read.error) }
}
