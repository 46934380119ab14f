import { z } from 'zod'

/** What a device of a fleet is doing. `waiting`: something else on that machine has the device. */
export const DEVICE_ACTIVITIES = ['idle', 'waiting', 'measuring', 'throttled', 'lost'] as const
export const deviceActivitySchema = z.enum(DEVICE_ACTIVITIES)
export type DeviceActivity = z.infer<typeof deviceActivitySchema>

/** What a device of a machine that ssh reaches does, as its agent tells it. Its ids are those of its machine. */
export const remoteActivitySchema = z.object({
  backend: z.string(),
  device: z.string(),
  activity: deviceActivitySchema,
  /** As last read beside samples. */
  smClockMhz: z.number().optional(),
  temperatureC: z.number().optional(),
})
export type RemoteActivity = z.infer<typeof remoteActivitySchema>

const fleetDeviceSchema = z.object({
  backend: z.string(),
  device: z.string(),
  name: z.string(),
  state: deviceActivitySchema,
  /** The case that is measured, in words, and for how long, in seconds. */
  current: z.string().optional(),
  seconds: z.number().optional(),
  measured: z.number().int(),
  /** Cases that wait for this device alone. */
  waiting: z.number().int(),
  /** Estimated from the mean time of its cases; absent before there is one. */
  secondsLeft: z.number().optional(),
  smClockMhz: z.number().optional(),
  temperatureC: z.number().optional(),
})
export type FleetDevice = z.infer<typeof fleetDeviceSchema>

const fleetHostSchema = z.object({
  host: z.string(),
  /** Version of its agent. */
  opscope: z.string(),
  /** `silent`: nothing was heard for a while; `left`: its agent said that it ends. */
  state: z.enum(['up', 'draining', 'left', 'silent']),
  /** Why it takes no work, in a sentence. */
  reason: z.string().optional(),
  devices: z.array(fleetDeviceSchema),
})
export type FleetHost = z.infer<typeof fleetHostSchema>

/** States of a host as users read them. */
export const HOST_WORDS = { up: 'up', draining: 'draining', silent: 'lost', left: 'stopped' } as const satisfies Record<FleetHost['state'], string>

/** What the window shows of a fleet. */
export const fleetStateSchema = z.object({
  /** Absent where none is set. */
  server: z.string().optional(),
  connection: z.enum(['none', 'connecting', 'up', 'lost']),
  /** Why it is not connected. */
  problem: z.string().optional(),
  hosts: z.array(fleetHostSchema),
  /** Cases that any device of a model may take. */
  shared: z.array(z.object({ model: z.string(), waiting: z.number().int() })),
  /** Queues with work for which no agent was heard. */
  unserved: z.array(z.object({ queue: z.string(), waiting: z.number().int() })),
  /** Sessions that lack results, and whether results are being collected now. */
  sessions: z.array(z.object({ id: z.string(), name: z.string(), results: z.number().int(), planned: z.number().int() })),
  collecting: z.boolean(),
})
export type FleetState = z.infer<typeof fleetStateSchema>

export const NO_FLEET: FleetState = { connection: 'none', hosts: [], shared: [], unserved: [], sessions: [], collecting: false }
