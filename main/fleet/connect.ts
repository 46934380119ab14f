import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream'
import { AuthorizationError, connect, credsAuthenticator, nanos, nkeyAuthenticator, UserAuthenticationExpiredError, type Authenticator, type NatsConnection } from '@nats-io/transport-node'
import { z } from 'zod'
import { writeFileAtomic } from '../write-file'
import { ALL_WORK, RESULT_STREAM, WORK_STREAM } from './messages'

/** How a fleet is reached. Files are named, their contents are not copied. */
export const fleetSettingsSchema = z.strictObject({
  /** `tls://nats.example:4222`; several by commas. */
  server: z.string().min(1).max(1000),
  creds: z.string().max(1000).optional(),
  /** File with the seed of an nkey. */
  nkey: z.string().max(1000).optional(),
  tlsCa: z.string().max(1000).optional(),
  /** Without TLS to a server that is not this machine. */
  insecure: z.boolean().optional(),
})
export type FleetSettings = z.infer<typeof fleetSettingsSchema>

const fileIn = (folder: string) => join(folder, 'fleet.json')

/** The fleet that this data folder uses; undefined where there is none. */
export function readFleet(folder: string): FleetSettings | undefined {
  if (!existsSync(fileIn(folder))) return undefined
  return fleetSettingsSchema.parse(JSON.parse(readFileSync(fileIn(folder), 'utf8')))
}

export const writeFleet = (folder: string, settings: FleetSettings): void => writeFileAtomic(fileIn(folder), [JSON.stringify(settings, undefined, 2)])

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/

/** Throws RangeError where the settings would send work and results in the clear over a network. */
export function checkSettings({ server, insecure }: FleetSettings): void {
  for (const one of server.split(',')) {
    const url = URL.canParse(one) ? new URL(one) : undefined
    if (!url || !/^(?:nats|tls):$/.test(url.protocol)) throw new RangeError(`"${one}" is no address of a NATS server; expected tls://host:4222`)
    if (url.username || url.password) throw new RangeError('a password in the address would be kept in a file; use --creds or --nkey')
    if (url.protocol !== 'tls:' && !LOOPBACK.test(url.hostname) && insecure !== true) throw new RangeError(`${one} is not encrypted; use tls://, or --insecure on a network that you trust`)
  }
}

/** A connection with the two streams of a fleet. */
export interface FleetLine {
  nc: NatsConnection
  js: JetStreamClient
  jsm: JetStreamManager
  /** How often it was connected anew: the server may have come back without its streams and consumers. */
  reconnects(): number
  close(): Promise<void>
}

export interface LineLimits {
  /** How long work may go without a heartbeat before it is given to somebody else, in ms. */
  ackWaitMs: number
  /** How long the server remembers the ids of results, in ms. */
  dedupeMs: number
}
export const LIMITS: LineLimits = { ackWaitMs: 30_000, dedupeMs: 3_600_000 }

/** Tests cannot wait as long as users should. */
export const limitsOf = (env: NodeJS.ProcessEnv): LineLimits => {
  const ackWaitMs = Number(env['OPSCOPE_TEST_ACK_WAIT_MS'])
  return env['OPSCOPE_TEST_BACKEND'] === '1' && ackWaitMs > 0 ? { ...LIMITS, ackWaitMs } : LIMITS
}

const MAX_WORK_BYTES = 2 ** 20

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Proves who connects, from the file that is named, read anew for each connection: credentials may be renewed. Throws Error naming the file where it has none. */
function authenticatorOf({ creds, nkey }: FleetSettings): Authenticator | undefined {
  const file = creds ?? nkey
  if (file === undefined) return undefined
  const read = () => {
    const authenticator = creds ? credsAuthenticator(readFileSync(file)) : nkeyAuthenticator(new TextEncoder().encode(readFileSync(file, 'utf8').trim()))
    // The file is read as credentials when something is to be signed, which would look like a refusal of the server.
    authenticator('any')
    return authenticator
  }
  let last: Authenticator
  try {
    last = read()
  } catch (error) {
    throw new Error(`${basename(file)} cannot be used as ${creds ? 'credentials of NATS' : 'the seed of an nkey'}: ${reasonOf(error)}`, { cause: error })
  }
  return (nonce) => {
    try {
      last = read()
    } catch {
      // It is being replaced: the ones before may still hold.
    }
    return last(nonce)
  }
}

/** Nothing answers there. */
const UNREACHED = /refused|timeout|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/i

/** Why a server was not reached, in words. */
function refusal({ creds, nkey }: FleetSettings, error: unknown): string {
  if (error instanceof UserAuthenticationExpiredError) return `the credentials in ${basename(creds ?? '')} have expired`
  if (!(error instanceof AuthorizationError)) return UNREACHED.test(reasonOf(error)) ? `${reasonOf(error)}. Check its address, and that it is running` : reasonOf(error)
  return creds ? `it refuses the credentials in ${basename(creds)} (${error.message})` : nkey ? `it refuses the nkey in ${basename(nkey)} (${error.message})` : `it requires credentials (${error.message})`
}

/** Connects, and makes the streams where they are missing. Goes on trying to reconnect for as long as it is open. */
export async function openLine(settings: FleetSettings, name: string, limits: LineLimits = LIMITS): Promise<FleetLine> {
  checkSettings(settings)
  const { server, tlsCa } = settings
  const servers = server.split(',')
  const authenticator = authenticatorOf(settings)
  const encrypted = servers.some((one) => one.startsWith('tls:'))
  let nc: NatsConnection
  try {
    nc = await connect({
      servers: servers.map((one) => one.replace(/^tls:/, 'nats:')), name, maxReconnectAttempts: -1, reconnectTimeWait: 500, reconnectJitter: 200, pingInterval: 5000, maxPingOut: 3, timeout: 10_000,
      // Without it a connection is given up after two refusals, and its agent would be there and never measure again.
      ignoreAuthErrorAbort: true,
      ...(authenticator ? { authenticator } : {}), ...(encrypted ? { tls: tlsCa ? { caFile: tlsCa } : {} } : {}),
    })
  } catch (error) {
    throw new Error(`the NATS server ${server} cannot be used: ${refusal(settings, error)}`, { cause: error })
  }
  try {
    const jsm = await jetstreamManager(nc)
    await makeStreams({ jsm }, limits)
    return { nc, js: jetstream(nc), jsm, reconnects: countReconnects(nc), close: () => nc.close() }
  } catch (error) {
    await nc.close()
    throw new Error(`the NATS server ${server} has no JetStream that can be used: ${reasonOf(error)}`, { cause: error })
  }
}

/** Makes the two streams where they are missing. */
export async function makeStreams({ jsm }: Pick<FleetLine, 'jsm'>, limits: LineLimits): Promise<void> {
  await jsm.streams.add({ name: WORK_STREAM, subjects: [ALL_WORK], retention: RetentionPolicy.Workqueue, storage: StorageType.File, max_msg_size: MAX_WORK_BYTES, duplicate_window: nanos(limits.dedupeMs) })
  await jsm.streams.add({ name: RESULT_STREAM, subjects: ['opscope.results.>'], retention: RetentionPolicy.Workqueue, storage: StorageType.File, duplicate_window: nanos(limits.dedupeMs) })
}

function countReconnects(nc: NatsConnection): () => number {
  let count = 0
  void (async () => {
    for await (const { type } of nc.status()) if (type === 'reconnect') count += 1
  })()
  return () => count
}

/** Calls `open` again after each reconnection, making streams that are gone. */
export function opened<T>(line: Pick<FleetLine, 'jsm' | 'reconnects'>, limits: LineLimits, open: () => Promise<T>): () => Promise<T> {
  let last: { at: number; value: T } | undefined
  return async () => {
    const at = line.reconnects()
    if (last?.at === at) return last.value
    if (at > 0) await makeStreams(line, limits)
    const value = await open()
    last = { at, value }
    return value
  }
}

/** The consumer of a lane of work: durable, so that work waits for an agent that is away. `most`: work that is out at once. */
export async function workConsumer({ jsm, js }: Pick<FleetLine, 'jsm' | 'js'>, lane: string, subject: string, most: number, limits: LineLimits) {
  await jsm.consumers.add(WORK_STREAM, { durable_name: lane, filter_subject: subject, ack_policy: AckPolicy.Explicit, ack_wait: nanos(limits.ackWaitMs), max_ack_pending: most })
  return js.consumers.get(WORK_STREAM, lane)
}
