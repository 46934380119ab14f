import { workOf } from '@core/analysis/size'
import { INTERLEAVE, roundsRatio } from '@core/compare'
import type { BenchmarkCase } from '@core/case'
import { costOf } from '@core/measure/result/record'
import { gatherRounds, joinRounds, roundSettings, type RoundPart } from '@core/measure/result/rounds'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { processorOf } from '@core/session/environment'
import type { Outlook } from './pace'
import type { Step } from './turn'

/** Cases that are measured in the same rounds, all of the same work. */
export interface RoundGroup {
  cases: readonly { case: BenchmarkCase; seconds: number }[]
}

/** Rounds come in twos, there and back: an ABBA quad of any two cases. */
const QUADS_AT_LEAST = INTERLEAVE.minQuads
/** Quads after which only the speedups are waited for, not the times. */
const QUADS_FOR_TIMES = 12
/** Groups whose rounds are in progress at once, so that those of each are spread over some of the run, */
const GROUPS_AT_ONCE = 8
/** and bytes of them all, which a host may keep open. */
const BYTES_AT_ONCE = 2 ** 29

/**
 * Cases in the order to measure, those that compete on the processor of the host in groups: other programs share it, so what is to be
 * compared is measured at the same time. Only where the settings ask for it, and for the rule that stops at a width of the interval: others promise a number of samples, or a time.
 */
export function grouped<C extends { case: BenchmarkCase; seconds: number }>(cases: readonly C[], { rule, rounds }: MeasureSettings): (C | { cases: C[] })[] {
  if (!rounds || (rule !== undefined && rule.id !== 'relative-ci')) return [...cases]
  const groups = new Map<string, C[]>()
  const steps: (C | { cases: C[] })[] = []
  for (const one of cases) {
    if (processorOf(one.case.device) !== 'cpu') {
      steps.push(one)
      continue
    }
    const key = workOf(one.case)
    const known = groups.get(key)
    if (known) known.push(one)
    else {
      const own = [one]
      groups.set(key, own)
      steps.push({ cases: own })
    }
  }
  return steps.map((step) => ('cases' in step && step.cases.length === 1 ? step.cases[0]! : step))
}

interface Member {
  case: BenchmarkCase
  parts: RoundPart[]
  /** What is still expected of it, in seconds. */
  left: number
}

/** One group in progress. */
class Open {
  readonly id = Math.floor(Math.random() * 2 ** 31)
  readonly bytes: number
  members: Member[]
  quads = 0
  wallMs = 0

  constructor({ cases }: RoundGroup) {
    this.members = cases.map(({ case: c, seconds }) => ({ case: c, parts: [], left: seconds }))
    this.bytes = cases.reduce((sum, { case: c }) => sum + costOf(c).bytes, 0)
  }

  /** The results of what was measured, the ratios to the first of them included. */
  joined(settings: MeasureSettings): Result[] {
    const results = this.members.filter(({ parts }) => parts.length > 0).map(({ parts }) => joinRounds(parts, this.id, settings))
    const [base] = results
    return results.map((result): Result => {
      if (!result.rounds) return result
      const ratio = result === base ? { ratio: 1, interval: { low: 1, high: 1 } } : roundsRatio(result, base!)
      return ratio ? { ...result, rounds: { ...result.rounds, ratio: { ratio: ratio.ratio, ...(ratio.interval ?? {}) } } } : result
    })
  }

  /** Whether its rounds say enough: every speedup within the target, and every time too unless many rounds did not help. */
  enough(settings: MeasureSettings): boolean {
    const spent = this.wallMs / 1000 >= settings.maxSeconds * this.members.length
    if (this.quads >= INTERLEAVE.maxQuads || (spent && this.quads >= INTERLEAVE.minQuads)) return true
    if (this.quads < QUADS_AT_LEAST) return false
    const [base, ...others] = this.members.map(({ parts }) => gatherRounds(parts, this.id))
    const within = (side: Result) => {
      const { ratio, interval } = roundsRatio(side, base!) ?? {}
      return ratio !== undefined && interval !== undefined && Math.max(interval.high / ratio, ratio / interval.low) - 1 <= settings.relativeCi
    }
    return others.every(within) && (this.quads >= QUADS_FOR_TIMES || this.members.every(({ parts }) => joinRounds(parts, this.id, settings).converged === true))
  }
}

/** Turns of groups of one generation, a few groups at a time, and the results of each once it is done. */
export class Rounds {
  readonly #open: Open[] = []

  constructor(
    private readonly settings: MeasureSettings,
    private readonly outlook: Outlook,
    private readonly mark: Pick<Result, 'run'> & { generation?: number },
  ) {}

  /** Takes one more group, having measured others until there is room for it. */
  *add(group: RoundGroup): Generator<Step, void, Result> {
    const next = new Open(group)
    while (this.#open.length > 0 && (this.#open.length >= GROUPS_AT_ONCE || this.#open.reduce((sum, { bytes }) => sum + bytes, next.bytes) > BYTES_AT_ONCE)) yield* this.#step()
    this.#open.push(next)
  }

  /** Measures the groups taken to their end. */
  *finish(): Generator<Step, void, Result> {
    while (this.#open.length > 0) yield* this.#step()
  }

  /** The results of groups that were stopped in the midst of their rounds, as far as they are. */
  unfinished(): Result[] {
    return this.#open.flatMap((open) => open.joined(this.settings)).filter(({ summary }) => summary !== undefined).map((result) => this.#marked({ ...result, converged: false, stopReason: `stopped by the user, ${result.stopReason ?? ''}` }))
  }

  #marked(result: Result): Result {
    return this.mark.run === undefined ? result : { ...result, run: this.mark.run }
  }

  /** One quad of the group whose turn it is. */
  *#step(): Generator<Step, void, Result> {
    const open = this.#open[0]!
    for (const round of [2 * open.quads, 2 * open.quads + 1]) yield* this.#round(open, round)
    open.quads++
    this.#open.shift()
    if (open.members.length > 0 && !open.enough(this.settings)) {
      this.#open.push(open)
      return
    }
    for (const member of open.members) this.#expectLess(member, member.left)
    for (const result of open.joined(this.settings)) yield { result: this.#marked(result) }
  }

  *#round(open: Open, round: number): Generator<Step, void, Result> {
    for (const member of round % 2 === 0 ? [...open.members] : [...open.members].reverse()) {
      const settings = roundSettings(this.settings, member.parts.length === 0)
      const result = yield { case: member.case, settings, seconds: member.left, round: true, ...(this.mark.generation === undefined ? {} : { generation: this.mark.generation }) }
      open.wallMs += result.wallMs
      this.#expectLess(member, Math.min(member.left, result.wallMs / 1000))
      if (result.status === 'ok') member.parts.push({ round, result })
      else {
        this.#expectLess(member, member.left)
        open.members = open.members.filter((other) => other !== member)
        yield { result: this.#marked(result) }
      }
    }
  }

  #expectLess(member: Member, seconds: number): void {
    member.left -= seconds
    this.outlook.add(member.case.device, -seconds)
  }
}
