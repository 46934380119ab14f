import { z } from 'zod'
import { deviceSchema } from '../backend'
import { benchmarkCaseSchema } from '../case'
import { resultSchema } from '../result'
import { measureSettingsSchema } from './settings'

/** Rounds over several implementations of one case: from number `first` on, as many as last `seconds`, at most `count`. */
const roundsSchema = z.object({ others: z.array(benchmarkCaseSchema).max(255), first: z.number().int().nonnegative(), count: z.number().int().positive(), seconds: z.number().positive(), /** Nothing is measured in these rounds by another process. */ whole: z.boolean().optional() })
export type RoundsPass = z.infer<typeof roundsSchema>

/**
 * What the runner and a measurement host (process, page, or another Electron) say to each other.
 * One host measures one case at a time. Every message is parsed on arrival; one that does not parse is a fault of
 * its sender and ends that host, not the app.
 */
export const toHostSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('devices'), id: z.number().int() }),
  z.object({ type: z.literal('measure'), id: z.number().int(), case: benchmarkCaseSchema, settings: measureSettingsSchema, resultId: z.string(), /** The case will be asked for again soon: leave it open if memory allows. */ keep: z.boolean().optional(), /** One of several blocks of the case, between blocks of other implementations: what earlier blocks have shown of it holds. */ round: z.boolean().optional(), /** A pass of rounds over the case and the `others`, of the same host (core/measure/rounds.ts). */ rounds: roundsSchema.optional(), /** Of samples and projections (Verification.sampleSeed): another one for each session. */ sampleSeed: z.number().int().nonnegative().max(0xffffffff).optional() }),
  /** Ask the running case to end at the next batch; it then replies with `cancelled`. */
  z.object({ type: z.literal('cancel'), id: z.number().int() }),
])
export type ToHost = z.infer<typeof toHostSchema>

/** `waiting`: another Opscope on the same machine measures on the device. */
export const phaseSchema = z.enum(['waiting', 'preparing', 'verifying', 'warming up', 'sampling', 'checking', 'measuring energy'])
export type Phase = z.infer<typeof phaseSchema>

export const fromHostSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('devices'), id: z.number().int(), devices: z.array(deviceSchema) }),
  /** Sent at each change of phase and after each batch; its absence is what the watchdog notices. */
  z.object({ type: z.literal('progress'), id: z.number().int(), phase: phaseSchema, samples: z.number().int(), relativeCi: z.number().optional() }),
  /** `others`: those of a pass of rounds, in their order. */
  z.object({ type: z.literal('result'), id: z.number().int(), result: resultSchema, others: z.array(resultSchema).max(255).optional() }),
  z.object({ type: z.literal('cancelled'), id: z.number().int() }),
  z.object({ type: z.literal('error'), id: z.number().int(), message: z.string() }),
])
export type FromHost = z.infer<typeof fromHostSchema>

/** Two-way link to a measurement host, whatever carries it. */
export interface HostLink {
  send(message: ToHost): void
  /** Replaces the listener. Messages are unparsed. */
  onMessage(listener: (message: unknown) => void): void
  /** Called once, when the other side is gone; `reason` in plain words (exit status, signal, page crash). */
  onExit(listener: (reason: string) => void): void
  /** End the other side at once. */
  kill(): void
}
