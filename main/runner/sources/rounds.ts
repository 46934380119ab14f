import { workOf } from '@core/analysis/size'
import { findBackend } from '@core/backends'
import { INTERLEAVE, roundsRatio, roundsSettled } from '@core/compare'
import type { BenchmarkCase } from '@core/case'
import { costOf } from '@core/measure/result/record'
import { gatherRounds, joinRounds, MAX_PASSES, MIN_PASSES, passSeconds, roundPasses, roundSettings, takesRounds, type RoundPart } from '@core/measure/result/rounds'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { processorOf } from '@core/session/environment'
import type { Outlook } from './pace'
import type { Measured, Step } from './turn'

/** Cases that are measured in the same rounds, all of the same work. */
export interface RoundGroup {
  cases: readonly { case: BenchmarkCase; seconds: number }[]
}

/** Rounds of a pass at most. */
const MAX_ROUNDS = 128
/** What a pass of half as many rounds as the longest, or fewer, counts for. */
const SHORT_PASS = 0.5
/** Groups whose rounds are in progress at once, so that those of each are spread over some of the run, */
const GROUPS_AT_ONCE = 8
/** and bytes of them all, which a host may keep open. */
const BYTES_AT_ONCE = 2 ** 29

/**
 * Cases in the order to measure, those that compete on the processor of the host in groups: other programs share it, so what is to be
 * compared is measured at the same time. Only where the settings say so (takesRounds).
 */
export function grouped<C extends { case: BenchmarkCase; seconds: number }>(cases: readonly C[], settings: MeasureSettings): (C | { cases: C[] })[] {
  if (!takesRounds(settings)) return [...cases]
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
  /** What was expected of it, and still is, in seconds. */
  expected: number
  left: number
}

/** Whether it is measured in one process with the others like it, which then go through their rounds there. */
const isTogether = ({ case: c }: Member) => findBackend(c.backend)?.library !== true

/** One group in progress. */
class Open {
  readonly id = Math.floor(Math.random() * 2 ** 31)
  readonly bytes: number
  members: Member[]
  passes = 0
  /** The same, short ones as half of one: those beside something else on the core end early (core/measure/rounds.ts). */
  whole = 0
  #longest = 0
  /** The next round, an even one. */
  round = 0
  wallMs = 0

  constructor({ cases }: RoundGroup) {
    this.members = cases.map(({ case: c, seconds }) => ({ case: c, parts: [], expected: seconds, left: seconds }))
    this.bytes = cases.reduce((sum, { case: c }) => sum + costOf(c).bytes, 0)
  }

  /** Those that go through their rounds in one request. */
  get together(): Member[] {
    const members = this.members.filter(isTogether)
    return members.length > 1 ? members : []
  }

  /** Passes at most: where one measures in a process of its own, a pass is two rounds, there and back. */
  get most(): number {
    return this.together.length === this.members.length ? MAX_PASSES : INTERLEAVE.maxQuads
  }

  /** Expected seconds of each member in the passes to come, by those so far: up to the fewest that can be enough, then half of those that there may be. */
  get secondsToCome(): number {
    const passes = this.passes < MIN_PASSES ? MIN_PASSES - this.passes : Math.max(1, Math.ceil((this.most - this.whole) / 2))
    return (passes * this.wallMs) / 1000 / this.passes / this.members.length
  }

  /** Counts a pass of so many rounds. */
  count(rounds: number): void {
    this.passes++
    this.#longest = Math.max(this.#longest, rounds)
    this.whole += 2 * rounds > this.#longest ? 1 : SHORT_PASS
  }

  /** The results of what was measured, the ratios to the first of them included. */
  joined(settings: MeasureSettings): { result: Result; seconds: number }[] {
    const members = this.members.filter(({ parts }) => parts.length > 0)
    const results = members.map(({ parts }) => joinRounds(parts, this.id, settings))
    const [base] = results
    return results.map((result, i) => {
      const seconds = members[i]!.expected
      if (!result.rounds) return { result, seconds }
      const ratio = result === base ? { ratio: 1, interval: { low: 1, high: 1 } } : roundsRatio(roundPasses(result), roundPasses(base!))
      return { result: ratio ? { ...result, rounds: { ...result.rounds, ratio: { ratio: ratio.ratio, ...(ratio.interval ?? {}) } } } : result, seconds }
    })
  }

  /** Whether its rounds say enough: every speedup within the target. */
  enough(settings: MeasureSettings): boolean {
    if (this.passes < MIN_PASSES) return false
    if (this.whole >= this.most || this.wallMs / 1000 >= settings.maxSeconds * this.members.length) return true
    const [base, ...others] = this.members.map(({ parts }) => gatherRounds(parts, this.id))
    const passes = roundPasses(base!)
    return others.every((side) => roundsSettled(roundsRatio(roundPasses(side), passes), settings.relativeCi))
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
  *add(group: RoundGroup): Generator<Step, void, Measured> {
    const next = new Open(group)
    while (this.#open.length > 0 && (this.#open.length >= GROUPS_AT_ONCE || this.#open.reduce((sum, { bytes }) => sum + bytes, next.bytes) > BYTES_AT_ONCE)) yield* this.#step()
    this.#open.push(next)
  }

  /** Measures the groups taken to their end. */
  *finish(): Generator<Step, void, Measured> {
    while (this.#open.length > 0) yield* this.#step()
  }

  /** The results of groups that were stopped in the midst of their rounds, as far as they are. */
  unfinished(): Result[] {
    return this.#open.flatMap((open) => open.joined(this.settings)).flatMap(({ result }) => (result.summary === undefined ? [] : [this.#marked({ ...result, converged: false, stopReason: `stopped by the user, ${result.stopReason ?? ''}` })]))
  }

  #marked(result: Result): Result {
    return this.mark.run === undefined ? result : { ...result, run: this.mark.run }
  }

  get #generation() {
    return this.mark.generation === undefined ? {} : { generation: this.mark.generation }
  }

  /** One pass of the group whose turn it is. */
  *#step(): Generator<Step, void, Measured> {
    const open = this.#open[0]!
    const seconds = passSeconds(this.settings, open.members.length)
    if (open.together.length === open.members.length) yield* this.#together(open, MAX_ROUNDS, seconds)
    else for (const round of [open.round, open.round + 1]) yield* this.#round(open, round)
    const last = Math.max(open.round + 1, ...open.members.flatMap(({ parts }) => parts.at(-1)?.result.rounds.numbers.at(-1) ?? []))
    open.count(last + 1 - open.round)
    open.round = 2 * Math.ceil((last + 1) / 2)
    this.#open.shift()
    if (open.members.length > 0 && !open.enough(this.settings)) {
      this.#open.push(open)
      // What was expected is used up before a group on a noisy host is settled.
      for (const member of open.members) if (member.left < open.secondsToCome) this.#expectLess(member, member.left - open.secondsToCome)
      return
    }
    for (const member of open.members) this.#expectLess(member, member.left)
    for (const { result, seconds: expected } of open.joined(this.settings)) yield { result: this.#marked(result), seconds: expected }
  }

  /** Rounds from `open.round` on, or the one given, of those that are measured in one process. */
  *#together(open: Open, count: number, seconds: number, first = open.round): Generator<Step, void, Measured> {
    const members = open.together
    const [lead, ...others] = members as [Member, ...Member[]]
    const left = members.reduce((sum, member) => sum + member.left, 0)
    const measured = yield { case: lead.case, settings: this.settings, seconds: left, rounds: { others: others.map((member) => member.case), first, count, seconds, whole: members.length === open.members.length }, ...this.#generation }
    if (measured.length === members.length) for (const [i, member] of members.entries()) yield* this.#took(open, member, measured[i]!)
    else yield* this.#alone(open, members)
  }

  /** One round of a group of which some are measured in processes of their own. */
  *#round(open: Open, round: number): Generator<Step, void, Measured> {
    const together = open.together
    const blocks = open.members.filter((member) => !together.includes(member))
    const turns = [...(together.length > 0 ? [undefined] : []), ...blocks]
    for (const member of round % 2 === 0 ? turns : turns.toReversed()) {
      if (!member) {
        yield* this.#together(open, 1, 1, round)
        continue
      }
      const settings = roundSettings(this.settings, member.parts.length === 0)
      const [result] = yield { case: member.case, settings, seconds: member.left, round: true, ...this.#generation }
      yield* this.#took(open, member, { ...result, rounds: { group: 0, numbers: [round], firstSamples: [0] } })
    }
  }

  /** Takes a part of a member; one that failed is stored, and the others go on. */
  *#took(open: Open, member: Member, result: Result): Generator<Step, void, Measured> {
    open.wallMs += result.wallMs
    this.#expectLess(member, Math.min(member.left, result.wallMs / 1000))
    const { rounds, ...alone } = result
    if (result.status === 'ok' && rounds) {
      member.parts.push({ pass: open.passes, result: { ...alone, rounds } })
      return
    }
    this.#expectLess(member, member.left)
    open.members = open.members.filter((other) => other !== member)
    yield { result: this.#marked(alone), seconds: member.expected }
  }

  /** The process ended or was silent in a pass, and which of the members did that is not known: each is measured by itself. */
  *#alone(open: Open, members: readonly Member[]): Generator<Step, void, Measured> {
    open.members = open.members.filter((member) => !members.includes(member))
    for (const member of members) {
      const turn = { case: member.case, settings: this.settings, seconds: member.left, ...this.#generation }
      yield this.mark.run === undefined ? turn : { ...turn, mark: { run: this.mark.run } }
      this.#expectLess(member, member.left)
    }
  }

  #expectLess(member: Member, seconds: number): void {
    member.left -= seconds
    this.outlook.add(member.case.device, -seconds)
  }
}
