import { problemOf, CaseError, type Backend, type PreparedCase } from '../backend'
import { caseId } from '../case'
import { findOp } from '../ops/registry'
import { resultSchema, type Result } from '../result'
import { failure, firstSeed, measureCase } from './measure-case'
import { toHostSchema, type FromHost, type ToHost } from './protocol'
import { CancelledError } from './sampling/sampler'
import type { VerifyPool } from './verify/pool'
import { CaseWarmState } from './sampling/warm-up'

/** The host's end of a link to the runner, whatever carries it. */
export interface ServeLink {
  send(message: FromHost): void
  /** Messages are unparsed. */
  onMessage(listener: (message: unknown) => void): void
}

export interface ServeOptions {
  /** Monotonic clock in ms. */
  now?: () => number
  /** Called after a message that does not parse was answered with an error, or when the link takes no answer; the process should end itself. */
  onFault?: (reason: string) => void
  /** Threads that compare outputs with their references. */
  pool?: VerifyPool
}

type Measure = Extract<ToHost, { type: 'measure' }>

/** Answers the measurement protocol with these backends, one request at a time, and says `ready`. */
export function serve(backends: readonly Backend[], link: ServeLink, options: ServeOptions = {}): void {
  const now = options.now ?? (() => performance.now())
  let queue: Promise<void> = Promise.resolve()
  const cases = new OpenCases()
  const idlePower = new Map<string, number>()
  /** Requests not ended yet, queued ones included. */
  const open = new Map<number, AbortController>()

  /** Sends what ends a request. A link that takes no message is a fault, and no reason to leave later requests unanswered. */
  const sendLast = (message: FromHost) => {
    try {
      link.send(message)
    } catch (error) {
      options.onFault?.(`The measurement host could not send its answer: ${messageOf(error)}`)
    }
  }
  const enqueue = (id: number, work: () => Promise<FromHost>) => {
    queue = queue.then(async () => {
      try {
        link.send(await work())
      } catch (error) {
        sendLast(error instanceof CancelledError ? { type: 'cancelled', id } : { type: 'error', id, message: messageOf(error) })
      }
    })
  }

  link.onMessage((raw) => {
    const parsed = toHostSchema.safeParse(raw)
    if (!parsed.success) {
      const first = parsed.error.issues[0]
      const reason = `A message to the measurement host is malformed: ${first ? `${first.path.join('.') || 'message'}: ${first.message}` : 'unknown'}`
      sendLast({ type: 'error', id: idOf(raw), message: reason })
      options.onFault?.(reason)
      return
    }
    const message = parsed.data
    if (message.type === 'cancel') open.get(message.id)?.abort()
    else if (message.type === 'devices') {
      enqueue(message.id, async () => ({ type: 'devices', id: message.id, devices: (await Promise.all(backends.map((b) => b.devices()))).flat() }))
    } else {
      const controller = new AbortController()
      open.set(message.id, controller)
      enqueue(message.id, async () => {
        try {
          return { type: 'result', id: message.id, result: await measureOne({ backends, cases, link, now, idlePower, ...(options.pool ? { pool: options.pool } : {}) }, message, controller.signal) }
        } finally {
          open.delete(message.id)
        }
      })
    }
  })
  link.send({ type: 'ready' })
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const idOf = (raw: unknown): number => {
  const id = typeof raw === 'object' && raw !== null && 'id' in raw ? raw.id : undefined
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : 0
}

interface Context {
  backends: readonly Backend[]
  cases: OpenCases
  link: ServeLink
  now: () => number
  idlePower: Map<string, number>
  pool?: VerifyPool
}

async function measureOne({ backends, cases, link, now, idlePower, pool }: Context, request: Measure, signal: AbortSignal): Promise<Result> {
  const { id, case: c, settings, resultId, keep = false, round, sampleSeed } = request
  const startedMs = now()
  const ended = (error: unknown) => failure(error, { resultId, case: c, seed: settings.seed, wallMs: now() - startedMs })
  if (signal.aborted) throw new CancelledError()
  link.send({ type: 'progress', id, phase: 'preparing', samples: 0 })

  const op = findOp(c.op)
  if (!op) return ended(new Error(`This version does not know the operation "${c.op}".`))
  const params = op.params.safeParse(c.params)
  if (!params.success) {
    const issue = params.error.issues[0]
    return ended(new Error(`The parameters of ${c.op} are not valid: ${issue?.path.join('.')}: ${issue?.message}.`))
  }
  const backend = backends.find((candidate) => candidate.id === c.backend)
  if (!backend) return ended(new Error(`This process serves ${backends.map((b) => b.id).join(', ') || 'no backend'}, not "${c.backend}".`))

  const identity = caseId(c)
  let taken: OpenCase | undefined
  let result: Result | undefined
  try {
    // A case that is opened anew for a further block holds the inputs that are timed at once.
    const seed = round && cases.knows(identity, settings) ? settings.seed : firstSeed(settings.seed)
    const open = () => backend.open(problemOf(op, c, seed), () => link.send({ type: 'progress', id, phase: 'preparing', samples: 0 }))
    taken = round ? await cases.takeBlock(identity, now, open) : await cases.take(identity, keep, open)
    const { prepared, familiar, fresh } = taken
    result = await measureCase({
      op, case: c, prepared, settings, now, startedMs, signal, resultId, familiar, idlePower, ...(fresh ? { filledSeed: seed } : {}), ...(pool ? { pool } : {}), ...(sampleSeed === undefined ? {} : { sampleSeed }),
      onProgress: (progress) => link.send({ type: 'progress', id, ...progress }),
    })
  } catch (error) {
    if (error instanceof CancelledError) throw error
    result = ended(error)
  } finally {
    // What failed or was cancelled halfway is not measured again as it is.
    if (taken && round) await cases.giveBlockBack(identity, taken, result?.status === 'ok')
    else if (taken) await cases.giveBack(identity, taken, keep && result?.status === 'ok')
    if (result?.errorCode === 'device-lost') await cases.shrink(0)
  }
  const checked = resultSchema.safeParse(result)
  return checked.success ? result : ended(new Error(`The measurement is not a valid result: ${checked.error.issues[0]?.path.join('.')}: ${checked.error.issues[0]?.message}`))
}

/** Cases left open at most, the one being measured included: the two sides of a interleaved comparison. */
const MAX_OPEN_CASES = 2

/** A case that opens within this time is opened anew for each block of its rounds, on other pages: where its tensors lie is then part of the noise. */
const REOPEN_MS = 10
/** Bytes of cases that take longer to open, and are left open between the blocks of their rounds. */
const MAX_OPEN_BYTES = 2 ** 30
/** Cases whose rounds may be in progress at once. */
const MAX_KNOWN = 1000

/** A case taken for a measurement. */
interface OpenCase {
  prepared: PreparedCase
  /** Goes with the case for as long as it is open. */
  familiar: CaseWarmState
  /** False where it was measured before and holds the inputs of that time. */
  fresh: boolean
  /** What opening it took; only of blocks. */
  openMs?: number
}

/**
 * Cases that a host leaves open between requests, so that blocks measured interleaved need no new set-up. They give way,
 * the one unused longest first: to a third case, to one that finds no memory beside them, and to any that is measured
 * for itself and should find the device as it would alone.
 */
class OpenCases {
  /** By case identity, the one used last at the end. */
  readonly #kept = new Map<string, Pick<OpenCase, 'prepared' | 'familiar'>>()
  /** What blocks have shown of cases whose rounds are in progress, by case identity. */
  readonly #known = new Map<string, CaseWarmState>()

  /** The open case of this identity, which is the caller's until given back, or a new one from `open`. */
  async take(id: string, keep: boolean, open: () => Promise<PreparedCase>): Promise<OpenCase> {
    const known = keep ? this.#kept.get(id) : undefined
    if (known) {
      this.#kept.delete(id)
      return { ...known, fresh: false }
    }
    await this.shrink(keep ? MAX_OPEN_CASES - 1 : 0)
    try {
      return opened(await open())
    } catch (error) {
      if (!(error instanceof CaseError && error.code === 'out-of-memory') || this.#kept.size === 0) throw error
    }
    await this.shrink(0)
    return opened(await open())
  }

  /** Whether earlier blocks of this case, by settings such as these, have shown what warm-up and first check would. */
  knows(id: string, settings: Parameters<CaseWarmState['for']>[0]): boolean {
    return this.#known.get(id)?.for(settings) !== undefined
  }

  /** The case of this identity for one block of its rounds. */
  async takeBlock(id: string, now: () => number, open: () => Promise<PreparedCase>): Promise<OpenCase> {
    const familiar = this.#known.get(id) ?? new CaseWarmState()
    const kept = this.#kept.get(id)
    if (kept) {
      this.#kept.delete(id)
      return { ...kept, fresh: false, openMs: REOPEN_MS }
    }
    const from = now()
    const opening = async () => ({ prepared: await open(), familiar, fresh: true, openMs: now() - from })
    try {
      return await opening()
    } catch (error) {
      if (!(error instanceof CaseError && error.code === 'out-of-memory') || this.#kept.size === 0) throw error
    }
    await this.shrink(0)
    return opening()
  }

  /** Takes a case back after a block. What it has shown is kept, and the case itself where opening it takes long; nothing of one that is not `well`. */
  async giveBlockBack(id: string, { prepared, familiar, openMs = 0 }: OpenCase, well: boolean): Promise<void> {
    this.#known.delete(id)
    if (well) this.#known.set(id, familiar)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    if (!well || openMs < REOPEN_MS) return close(prepared)
    this.#kept.set(id, { prepared, familiar })
    const bytes = () => [...this.#kept.values()].reduce((sum, kept) => sum + kept.prepared.memory().caseBytes, 0)
    while (this.#kept.size > 0 && bytes() > MAX_OPEN_BYTES) await this.shrink(this.#kept.size - 1)
  }

  /** Takes a case back after its measurement; one that is not to be kept is closed. */
  async giveBack(id: string, { prepared, familiar }: OpenCase, keep: boolean): Promise<void> {
    if (keep) this.#kept.set(id, { prepared, familiar })
    else await close(prepared)
  }

  /** Closes kept cases until no more than `most` are left. */
  async shrink(most: number): Promise<void> {
    for (const [id, { prepared }] of this.#kept) {
      if (this.#kept.size <= most) return
      this.#kept.delete(id)
      await close(prepared)
    }
  }
}

const opened = (prepared: PreparedCase): OpenCase => ({ prepared, familiar: new CaseWarmState(), fresh: true })

/** A device that was lost may refuse this too; the case's own ending is what counts. */
const close = (prepared: PreparedCase) => prepared.dispose().catch(() => undefined)
