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
  /** Turns that are taken before those, of each track beside the others: a process measures each. */
  sideBySide?: readonly { key: string; turns: Iterator<Turn, void, Result> }[]
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
  /** The GPU that a case is measured on, where cases of several GPUs may be measured at once. Absent: one after the other. */
  gpuOf?: ((c: BenchmarkCase) => string | undefined) | undefined
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

/** The cases of a plan one after the other; those of several GPUs side by side where `gpuOf` tells them apart, and then the rest. */
export function sweepSource({ cases, settings, repeats, secondsOf, gpuOf }: SweepSourceOptions): CaseSource {
  const outlook = new Outlook()
  const seconds = cases.map(secondsOf)
  const runs = repeats > 1 ? runsOf(cases, repeats) : undefined
  const gpus = gpuOf ? cases.map(gpuOf) : []
  const tracks = [...new Set(gpus.filter((gpu) => gpu !== undefined))]
  const trackOf = (i: number) => (tracks.length > 1 ? gpus[i] : undefined)
  cases.forEach((c, i) => outlook.add(c.device, seconds[i]!, trackOf(i)))

  function* turns(track: string | undefined): Generator<Turn, void, Result> {
    for (const [i, c] of cases.entries()) {
      if (trackOf(i) !== track) continue
      const turn: Turn = { case: c, settings, seconds: seconds[i]! }
      yield runs ? { ...turn, generation: runs[i]!, mark: { run: runs[i]! } } : turn
      outlook.add(c.device, -seconds[i]!)
    }
  }
  return {
    turns: turns(undefined), total: () => cases.length, left: () => outlook,
    ...(tracks.length > 1 ? { sideBySide: tracks.map((key) => ({ key, turns: turns(key) })) } : {}),
  }
}
