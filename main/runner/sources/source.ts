import { caseId, type BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { Outlook, type Expected } from './pace'

/** One measurement of a run. */
export interface Turn {
  case: BenchmarkCase
  settings: MeasureSettings
  /** Expected wall time. */
  seconds: number
  /** The same case comes again soon, so that its host should leave it open. */
  keep?: boolean
  /** Turns of different generations are measured by different processes; absent: it does not matter. */
  generation?: number
  /** What its result carries beside the measurement. */
  mark?: Pick<Result, 'run' | 'block'>
}

/** Where a run takes its cases from: a plan, or pairs that go on until they are settled. */
export interface CaseSource {
  /** Gives a turn and is told its result (`next(result)`) before it gives another; ends when nothing is left. */
  turns: Iterator<Turn, void, Result>
  /** Turns in all, those gone by included; an estimate where the results decide. */
  total(): number
  /** What is expected of the turns to come, by device. */
  left(): Iterable<Expected>
}

export interface SweepSourceOptions {
  /** What is left to measure, in order; a case comes once for each repeat it is still to have. */
  cases: readonly BenchmarkCase[]
  settings: MeasureSettings
  /** Times each case is measured in all; above 1, each repeat has processes of its own. */
  repeats: number
  /** Expected wall time of a case in seconds. */
  secondsOf(c: BenchmarkCase): number
}

/** Which repeat each of these cases belongs to: the last `n` of a case are what is left of its repeats. */
function runsOf(cases: readonly BenchmarkCase[], repeats: number): number[] {
  const left = new Map<string, number>()
  const ids = cases.map(caseId)
  for (const id of ids) left.set(id, (left.get(id) ?? 0) + 1)
  return ids.map((id) => {
    const count = left.get(id)!
    left.set(id, count - 1)
    return Math.max(0, repeats - count)
  })
}

/** The cases of a plan one after the other. */
export function sweepSource({ cases, settings, repeats, secondsOf }: SweepSourceOptions): CaseSource {
  const outlook = new Outlook()
  const seconds = cases.map(secondsOf)
  cases.forEach((c, i) => outlook.add(c.device, seconds[i]!))

  function* turns(): Generator<Turn, void, Result> {
    const runs = repeats > 1 ? runsOf(cases, repeats) : undefined
    for (const [i, c] of cases.entries()) {
      const turn: Turn = { case: c, settings, seconds: seconds[i]! }
      yield runs ? { ...turn, generation: runs[i]!, mark: { run: runs[i]! } } : turn
      outlook.add(c.device, -seconds[i]!)
    }
  }
  return { turns: turns(), total: () => cases.length, left: () => outlook }
}
