import { z } from 'zod'
import { deviceActivitySchema } from '@core/fleet/state'
import { fromHostSchema, toHostSchema } from '@core/measure/protocol'
import { factsSchema } from '@core/session/types'

/**
 * What Opscope and the agent of another machine say to each other: the host protocol (core/measure/protocol.ts) of
 * several measurement processes over one line, each on a channel of its own. Both sides parse every message. One that
 * does not parse costs that message (`refused`); bytes that are no frame (frames.ts) end the line.
 */

/** Raised with each change that an older side would not understand. */
export const AGENT_PROTOCOL = 1

/** What stands on a line of its own before the first frame: a login script may have printed something before it. */
export const BANNER = `opscope-agent ${AGENT_PROTOCOL}`

/** How often each side sends something, and how long silence may last before it takes the line for broken, in ms. */
export const LINE = { pingMs: 5_000, clientSilenceMs: 20_000, agentSilenceMs: 60_000 }

/** Kinds of measurement process that an agent starts. Pythons are those that it finds itself: no message names a program. */
export const agentHostSchema = z.enum(['native', 'python'])
export type AgentHost = z.infer<typeof agentHostSchema>

const channel = z.number().int().nonnegative().max(1_000_000)

export const toAgentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), channel, host: agentHostSchema }),
  z.object({ type: z.literal('host'), channel, message: toHostSchema }),
  z.object({ type: z.literal('end'), channel }),
  z.object({ type: z.literal('ping') }),
])
export type ToAgent = z.infer<typeof toAgentSchema>

export const agentStateSchema = z.object({
  backend: z.string().max(40),
  device: z.string().max(80),
  name: z.string().max(200),
  activity: deviceActivitySchema,
  /** As last read beside samples. */
  smClockMhz: z.number().optional(),
  temperatureC: z.number().optional(),
})
export type AgentState = z.infer<typeof agentStateSchema>

export const fromAgentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), version: z.string().max(100), pid: z.number().int(), environment: factsSchema, silenceMs: z.number().positive() }),
  z.object({ type: z.literal('host'), channel, message: fromHostSchema }),
  /** The process of a channel ended or could not be started; `reason` in plain words, further lines are its last ones. */
  z.object({ type: z.literal('ended'), channel, reason: z.string().max(20_000) }),
  z.object({ type: z.literal('state'), devices: z.array(agentStateSchema).max(256) }),
  z.object({ type: z.literal('refused'), reason: z.string().max(1000) }),
  z.object({ type: z.literal('pong') }),
])
export type FromAgent = z.infer<typeof fromAgentSchema>

