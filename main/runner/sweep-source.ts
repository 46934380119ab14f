import { caseId, type BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { Outlook } from './pace'
import type { CaseSource, Turn } from './source'

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
