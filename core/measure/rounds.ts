import type { PreparedCase } from '../backend'
import type { BenchmarkCase } from '../case'
import type { Op } from '../ops/types'
import type { Result } from '../result'
import { quantile } from '../stats/descriptive'
import { createRandom } from '../stats/random'
import { changesItsInputs, failure, measureCase, type Progress } from './measure-case'
import type { RoundsPass } from './protocol'
import { costOf, tenths } from './result/record'
import { roundSettings } from './result/rounds'
import { breather, CancelledError, createSampler, type Timed } from './sampling/sampler'
import { CLOSE, MAX_INNER, sampleTargetNs, type CaseWarmState, type WarmPace } from './sampling/warm-up'
import type { MeasureSettings } from './settings'
import type { VerifyPool } from './verify/pool'
import { createVerifier } from './verify/verify'

/** One implementation, open, with the inputs of the settings' seed. */
export interface RoundMember {
  op: Op
  case: BenchmarkCase
  prepared: PreparedCase
  /** What earlier passes have shown of it. */
  warmState: CaseWarmState
  resultId: string
  /** What opening it took. */
  openingMs: number
}

export interface RoundsRequest extends Omit<RoundsPass, 'others'> {
  settings: MeasureSettings
  now: () => number
  signal: AbortSignal
  pool?: VerifyPool
  sampleSeed?: number
  onProgress: (progress: Progress) => void
}

/** Samples of a burst that count, and their wall time: short ones, because noise between two bursts is what a speedup does not cancel. */
const BURST_SAMPLES = 2
const BURST_SECONDS = 0.0001
/** Calls before them at least, which bring the data of this case into the caches. */
const LEAD_SECONDS = 0.0002
/** A sample this long needs no calls before it. */
const LONG_SAMPLE_SECONDS = 0.001
/** Calls of every member before the first round. */
const WARM_SECONDS = 0.002
/** Rounds of a pass that takes longer than it may: two quads, and one where a sample is as long as this; it then has no calls before the first round either. */
const MIN_ROUNDS = 4
const MIN_LONG_ROUNDS = 2
const VERY_LONG_SAMPLE_SECONDS = 0.05
/** How much longer than its best time the speed probe takes where something else runs on the same core: clocks of a guest differ by less. */
const CROWDED = 1.15
/** Bursts of a round at most: one that was interrupted is taken again, which a scheduler mostly lets through. */
const MAX_TRIES = 3

/**
 * One pass: verifies and warms up the members that are not known yet, then goes through them round after round, there and back in an order of
 * this pass, a burst of samples each, and checks the output of each at the end. The results, in the order of the members, have all samples and no
 * statistics (result/rounds.ts). A member that fails ends the pass; the others have no samples then. Rejects with CancelledError when cancelled.
 */
export async function measureRounds(members: readonly RoundMember[], request: RoundsRequest): Promise<Result[]> {
  const { settings, now, signal, onProgress } = request
  const results = new Map<RoundMember, Result>()
  for (const member of members) {
    if (member.warmState.for(roundSettings(settings, true))) continue
    const { warmState: _, ...parts } = member
    const result = await measureCase({ ...parts, settings: roundSettings(settings, true), now, signal, warmState: member.warmState, onProgress, ...verifying(request) })
    results.set(member, result)
    if (result.status !== 'ok') return [result]
  }
  const turns = members.map((member) => new Turns(member, request, results.get(member)))
  let current: Turns | undefined
  try {
    for (current of turns) await current.warm()
    const order = shuffled(turns, request.first)
    const least = turns.some(({ isLong }) => isLong) ? MIN_LONG_ROUNDS : MIN_ROUNDS
    const from = now()
    for (let round = request.first; round < request.first + request.count; round++) {
      const taken = round - request.first
      // Something beside them stays for about a second, and rounds beside it say little: better ones come later.
      if (round % 2 === 0 && taken >= least && (now() - from >= request.seconds * 1000 || (taken === least && turns.every(({ isCrowded }) => isCrowded)))) break
      onProgress({ phase: 'sampling', samples: turns[0]?.samples ?? 0 })
      for (current of round % 2 === 0 ? order : order.toReversed()) await current.take(round)
    }
    onProgress({ phase: 'checking', samples: turns[0]?.samples ?? 0 })
    for (current of turns) await current.check()
  } catch (error) {
    if (error instanceof CancelledError || !current) throw error
    const { case: c, resultId } = current.member
    return [failure(error, { resultId, case: c, seed: settings.seed, wallMs: current.wallMs })]
  }
  const ended = turns.map((own) => own.result())
  const failed = ended.filter(({ status }) => status !== 'ok')
  return failed.length > 0 ? failed : ended
}

/** In another order in each pass: what an implementation leaves behind in caches and clocks does not always meet the same one. */
function shuffled<T>(all: readonly T[], seed: number): T[] {
  const random = createRandom(seed)
  return all.map((one) => ({ one, at: random() })).sort((a, b) => a.at - b.at).map(({ one }) => one)
}

const verifying = ({ pool, sampleSeed }: RoundsRequest) => ({ ...(pool ? { pool } : {}), ...(sampleSeed === undefined ? {} : { sampleSeed }) })

const SHORTEST_SECONDS = 1e-7
/** Quantile of samples that were hardly disturbed. */
const SHORT_SAMPLES = 0.1
const secondsOf = (inner: number, nsPerCall: number) => Math.max((inner * nsPerCall) / 1e9, SHORTEST_SECONDS)

/** The bursts of one member. */
class Turns {
  wallMs: number
  #samplesNs: number[] = []
  #probesNs: number[] = []
  readonly #numbers: number[] = []
  readonly #firstSamples: number[] = []
  readonly #states: NonNullable<Result['deviceStates']> = []
  /** Bursts beside something else on the same core. */
  #crowded = 0
  #pace: WarmPace
  readonly #sample
  #sampleSeconds: number
  /** Samples of a burst that do not count, and those that do. */
  #lead = 0
  #burst = 1
  #after: Result['verificationAfter']
  readonly #begun = Date.now()

  constructor(
    readonly member: RoundMember,
    private readonly request: RoundsRequest,
    /** Of the verification and warm-up in this pass. */
    private readonly first: Result | undefined,
  ) {
    this.wallMs = member.openingMs + (first?.wallMs ?? 0)
    this.#pace = member.warmState.for(roundSettings(request.settings, true))!.pace
    this.#sample = createSampler(member.prepared, request.now, request.signal, member.warmState.tempo)
    const { inner, nsPerCall, wallSecondsPerSample } = this.#pace
    this.#sampleSeconds = member.case.mode === 'cold' ? Math.max(wallSecondsPerSample, SHORTEST_SECONDS) : secondsOf(inner, nsPerCall)
  }

  get samples(): number {
    return this.#samplesNs.length
  }

  /** Whether a call is so long that a few of them are a pass. */
  get isLong(): boolean {
    return this.#sampleSeconds >= VERY_LONG_SAMPLE_SECONDS
  }

  /** Whether the speed probe says that something else ran on the core beside every burst. */
  get isCrowded(): boolean {
    return this.#crowded > 0 && this.#crowded === this.#numbers.length
  }

  /**
   * Takes samples before the first round, and plans bursts by the short ones: wall time has in it what other programs took meanwhile. By that, a case and
   * itself had bursts of one and of four samples behind other numbers of calls, and times up to 9 % apart. A cold call waits for its flush.
   */
  async warm(): Promise<void> {
    const { case: c, prepared } = this.member
    if (!this.isLong) await this.#timed(async () => {
      const { samplesNs } = await this.#take(Math.max(1, Math.ceil(WARM_SECONDS / this.#sampleSeconds)))
      if (c.mode === 'cold') return
      const nsPerCall = quantile(samplesNs, SHORT_SAMPLES) ?? this.#pace.nsPerCall
      this.#lengthen(nsPerCall)
      this.#sampleSeconds = secondsOf(this.#pace.inner, nsPerCall)
    })
    this.#burst = Math.min(BURST_SAMPLES, Math.max(1, Math.round(BURST_SECONDS / this.#sampleSeconds)))
    this.#lead = c.mode === 'cold' || this.#sampleSeconds >= LONG_SAMPLE_SECONDS ? 0 : Math.ceil(Math.max(LEAD_SECONDS, prepared.clockSettlesSeconds ?? 0) / this.#sampleSeconds)
  }

  /** Takes more calls in a sample where the host was busy when their number was found: the first of a sample takes longer, and weighs more among few. Only in the first pass: all others have as many. */
  #lengthen(nsPerCall: number): void {
    const { member: { prepared, warmState }, request: { settings } } = this
    const asked = roundSettings(settings, true)
    const targetNs = sampleTargetNs(prepared.tickNs, asked.minSeconds)
    const { window: _, ...pace } = this.#pace
    if (!this.first || pace.isMost || !(nsPerCall > 0) || nsPerCall * pace.inner >= targetNs * CLOSE) return
    const inner = Math.min(MAX_INNER, Math.ceil(targetNs / nsPerCall))
    this.#pace = { ...pace, inner, nsPerCall, wallSecondsPerSample: (pace.wallSecondsPerSample * inner) / pace.inner }
    warmState.learn(asked, warmState.for(asked)!.verification, this.#pace)
  }

  /** The burst of a round; all tries are kept, and those count that were not interrupted (passTimes). */
  async take(round: number): Promise<void> {
    for (let tries = 1; (await this.#burstOf(round)) && tries < MAX_TRIES; ) tries++
  }

  /** Takes one burst. Whether the system took the processor away meanwhile. */
  async #burstOf(round: number): Promise<boolean> {
    return this.#timed(async () => {
      const { samplesNs, probeNs, state } = await this.#take(this.#lead + this.#burst)
      const from = this.#samplesNs.length
      this.#numbers.push(round)
      this.#firstSamples.push(from)
      for (let i = Math.max(0, samplesNs.length - this.#burst); i < samplesNs.length; i++) {
        this.#samplesNs.push(samplesNs[i]!)
        this.#probesNs.push(probeNs?.[i] ?? 0)
      }
      const probes = probeNs?.slice(-this.#burst) ?? []
      if (probes.length > 0 && Math.min(...probes) > CROWDED * (state.probeBestNs ?? Infinity)) this.#crowded++
      const last = this.#states.at(-1)?.state
      const interrupted = (state.involuntarySwitches ?? 0) > 0
      // Switches and stolen time are those of this burst alone, so each that has some has its own state, even if it equals the last.
      if (interrupted || (state.stealMs ?? 0) > 0 || !last || JSON.stringify(last) !== JSON.stringify(state)) this.#states.push({ firstSample: from, state })
      return interrupted
    })
  }

  /** Checks that a timed call still writes what it should. */
  async check(): Promise<void> {
    await this.#timed(async () => {
      const { member: { op, case: c, prepared }, request } = this
      const { settings, signal } = request
      const { seed, verifyWork } = roundSettings(settings, false)
      if (changesItsInputs(op, c)) await prepared.refill(seed)
      await prepared.poison()
      if (changesItsInputs(op, c)) await prepared.run()
      else await this.#take(1)
      const breathe = breather(signal, request.now, () => request.onProgress({ phase: 'checking', samples: this.samples }))
      this.#after = { ...(await createVerifier(op, c, seed, verifyWork, verifying(request)).check(prepared, 'after', breathe)), ...(changesItsInputs(op, c) ? { fresh: true } : {}) }
    })
  }

  result(): Result {
    const { member: { op, case: c, prepared, resultId, warmState }, request: { settings } } = this
    const known = warmState.for(roundSettings(settings, true))!
    const after = this.#after!
    const { summary: _summary, labels: _labels, deviceStates: _states, probesNs: _probes, grade: _grade, gradeReasons: _reasons, converged: _converged, stopReason: _stop, message: _message, ...first } = this.first ?? {}
    const result: Result = {
      id: resultId, case: c, startedAt: new Date(this.#begun).toISOString(), ...costOf(c, op), timer: prepared.timer, tickNs: prepared.tickNs, seed: settings.seed,
      caseBytes: prepared.memory().caseBytes, verification: known.verification, ...first, status: 'ok', wallMs: this.wallMs, verificationAfter: after,
      inner: this.#pace.inner, measuredMs: (this.#samplesNs.reduce((sum, ns) => sum + ns, 0) * this.#pace.inner) / 1e6, samplesNs: this.#samplesNs,
      rounds: { group: 0, numbers: this.#numbers, firstSamples: this.#firstSamples },
      ...(this.#probesNs.some((ns) => ns > 0) ? { probesNs: tenths(this.#probesNs) } : {}), ...(this.#states.some(({ state }) => Object.keys(state).length > 0) ? { deviceStates: this.#states } : {}),
    }
    return after.ok ? result : { ...result, status: after.inaccurate ? 'inaccurate' : 'wrong', message: `After timing: ${after.message ?? 'The output is wrong.'}` }
  }

  #take = async (count: number): Promise<Timed> => {
    const timed = await this.#sample({ mode: this.member.case.mode, count, inner: this.#pace.inner })
    if (timed.inner !== this.#pace.inner) throw new Error(`A sample of ${this.#pace.inner} calls had ${timed.inner}.`)
    return timed
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const from = this.request.now()
    const done = await work()
    this.wallMs += this.request.now() - from
    return done
  }
}
