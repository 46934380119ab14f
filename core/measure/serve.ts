import { problemOf, type Backend } from '../backend'
import { findBackend } from '../backends'
import { caseId, type BenchmarkCase } from '../case'
import { findOp } from '../ops/registry'
import type { Op } from '../ops/types'
import { resultSchema, type Result } from '../result'
import { failure, firstSeed, measureCase } from './measure-case'
import { OpenCases, type OpenCase } from './open-cases'
import { toHostSchema, type FromHost, type ToHost } from './protocol'
import { memoryAdvice } from './result/memory-advice'
import { CancelledError } from './sampling/sampler'
import { measureRounds } from './rounds'
import type { VerifyPool } from './verify/pool'

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
type Pass = Measure & Required<Pick<Measure, 'rounds'>>

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
          const context: Context = { backends, cases, link, now, idlePower, ...(options.pool ? { pool: options.pool } : {}) }
          if (!message.rounds) return { type: 'result', id: message.id, result: await measureOne(context, message, controller.signal) }
          const [result, ...others] = await measurePass(context, { ...message, rounds: message.rounds }, controller.signal)
          return { type: 'result', id: message.id, result: result!, others }
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

/** What computes a case and with which backend; throws, with a reason for the user, where nothing here does. */
function served(backends: readonly Backend[], c: BenchmarkCase): { op: Op; backend: Backend } {
  const op = findOp(c.op)
  if (!op) throw new Error(`This version has no operation "${c.op}".`)
  const params = op.params.safeParse(c.params)
  if (!params.success) {
    const issue = params.error.issues[0]
    throw new Error(`The parameters of ${c.op} are not valid: ${issue?.path.join('.')}: ${issue?.message}.`)
  }
  const backend = backends.find((candidate) => candidate.id === c.backend)
  if (!backend) throw new Error(`This process serves ${backends.map((b) => b.id).join(', ') || 'no backend'}, not "${c.backend}".`)
  return { op, backend }
}

/** The result if it is valid, else a failure that says what is not. */
function checked(result: Result, ended: (error: unknown) => Result): Result {
  const parsed = resultSchema.safeParse(result)
  return parsed.success ? result : ended(new Error(`The measurement is not a valid result: ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`))
}

/** A result with what would fit in its message where memory ran out; the case holds none by now. */
async function advised(backends: readonly Backend[], result: Result): Promise<Result> {
  if (result.errorCode !== 'out-of-memory') return result
  const { op, backend } = served(backends, result.case)
  const devices = await backend.devices().catch(() => [])
  return { ...result, message: `${result.message ?? ''} ${memoryAdvice(op, result.case, devices.find(({ id }) => id === result.case.device)?.memoryBytes)}`.trim() }
}

async function measureOne({ backends, cases, link, now, idlePower, pool }: Context, request: Measure, signal: AbortSignal): Promise<Result> {
  const { id, case: c, settings, resultId, keep = false, round, sampleSeed } = request
  const startedMs = now()
  const ended = (error: unknown) => failure(error, { resultId, case: c, seed: settings.seed, wallMs: now() - startedMs })
  if (signal.aborted) throw new CancelledError()
  link.send({ type: 'progress', id, phase: 'preparing', samples: 0 })
  const identity = caseId(c)
  let taken: OpenCase | undefined
  let result: Result | undefined
  try {
    const { op, backend } = served(backends, c)
    // A case that is opened anew for a further block holds the inputs that are timed at once.
    const seed = round && cases.knows(identity, settings) ? settings.seed : firstSeed(settings.seed)
    const open = () => backend.open(problemOf(op, c, seed), () => link.send({ type: 'progress', id, phase: 'preparing', samples: 0 }))
    taken = round ? await cases.takeBlock(identity, now, open) : await cases.take(identity, keep, open)
    const { prepared, warmState, fresh } = taken
    result = await measureCase({
      op, case: c, prepared, settings, now, startedMs, signal, resultId, warmState, idlePower, ...(fresh ? { filledSeed: seed } : {}), ...(pool ? { pool } : {}), ...(sampleSeed === undefined ? {} : { sampleSeed }),
      onProgress: (progress) => link.send({ type: 'progress', id, ...progress }),
    })
  } catch (error) {
    if (error instanceof CancelledError) throw error
    result = ended(error)
  } finally {
    // What failed or was cancelled halfway is not measured again as it is.
    if (taken && round) await cases.giveBlockBack(identity, taken, result?.status === 'ok', findBackend(c.backend)?.library === true)
    else if (taken) await cases.giveBack(identity, taken, keep && result?.status === 'ok')
    if (result?.errorCode === 'device-lost') await cases.shrink(0)
  }
  return advised(backends, checked(result, ended))
}

/** A pass of rounds over the case of the request and the others. Their results, in this order. */
async function measurePass(context: Context, request: Pass, signal: AbortSignal): Promise<Result[]> {
  const { settings, resultId, rounds } = request
  const members = [request.case, ...rounds.others].map((c, i): Member => ({ case: c, resultId: i === 0 ? resultId : `${resultId}-${i}`, identity: caseId(c) }))
  const results = new Map<string, Result>()
  // Implementations share memory, which one that fails may spoil: the others are then opened and measured again.
  for (let left = members; left.length > 0; ) {
    const measured = await measureTogether(context, request, left, signal)
    const failed = measured.filter(({ status }) => status !== 'ok')
    for (const result of failed.length > 0 ? failed : measured) results.set(result.id, result)
    left = members.filter((member) => !results.has(member.resultId))
  }
  return Promise.all(members.map((member) => advised(context.backends, checked(results.get(member.resultId)!, (error) => failure(error, { resultId: member.resultId, case: member.case, seed: settings.seed })))))
}

interface Member {
  case: BenchmarkCase
  resultId: string
  identity: string
}

/** Opens the members, as many as can be on the memory of the first, and measures a pass of rounds; those that cannot be opened fail and the others are not measured. */
async function measureTogether({ backends, cases, link, now, pool }: Context, { id, settings, rounds, sampleSeed }: Pass, members: readonly Member[], signal: AbortSignal): Promise<Result[]> {
  const opened: (Member & OpenCase & { op: Op; openingMs: number })[] = []
  const failed: Result[] = []
  let well = false
  try {
    for (const member of members) {
      if (signal.aborted) throw new CancelledError()
      const alive = () => link.send({ type: 'progress', id, phase: 'preparing', samples: 0 })
      alive()
      const startedMs = now()
      try {
        const { op, backend } = served(backends, member.case)
        const taken = await cases.takeBlock(member.identity, now, () => backend.open({ ...problemOf(op, member.case, settings.seed), quietest: rounds.whole === true }, alive, opened[0]?.prepared), opened[0]?.fresh)
        opened.push({ ...member, ...taken, op, openingMs: now() - startedMs })
      } catch (error) {
        failed.push(failure(error, { resultId: member.resultId, case: member.case, seed: settings.seed, wallMs: now() - startedMs }))
      }
    }
    if (failed.length > 0) return failed
    const measured = await measureRounds(opened, { ...rounds, settings, now, signal, ...(pool ? { pool } : {}), ...(sampleSeed === undefined ? {} : { sampleSeed }), onProgress: (progress) => link.send({ type: 'progress', id, ...progress }) })
    well = measured.every(({ status }) => status === 'ok')
    return measured
  } finally {
    await cases.givePassBack(opened, well)
  }
}
