import { caseId, type BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { Outlook, type Expected } from './pace'
import { grouped, Rounds } from './rounds'
import type { Measured, Step, Turn } from './turn'

export type { Measured, Step, Turn } from './turn'

/** Where a run takes its cases from: a plan, or pairs that go on until they are settled. */
export interface CaseSource {
  /** Gives a turn and is told its results (`next([result])`) before it gives another; ends when nothing is left. */
  turns: Iterator<Step, void, Measured>
  /** Turns that are taken before those, of each track beside the others: a process measures each. */
  sideBySide?: readonly { key: string; turns: Iterator<Step, void, Measured> }[]
  /** Results in all, those gone by included; an estimate where the results decide. */
  total(): number
  /** Results of what was begun and is not done, when the run is stopped. */
  unfinished?(): Result[]
  /** What is expected of the turns to come, by device. */
  left(): Iterable<Expected>
}

export interface SweepSourceOptions {
  /** What is left to measure, in order; a case comes once for each repeat it is still to have. */
  cases: readonly BenchmarkCase[]
  settings: MeasureSettings
  /** Those of a case, where not all have the same. */
  settingsOf?: ((c: BenchmarkCase) => MeasureSettings) | undefined
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

/**
 * The cases of a plan one after the other; those of several GPUs side by side where `gpuOf` tells them apart, and then the rest; the
 * implementations of one case on a processor of the host in interleaved rounds where the settings say so.
 */
export function sweepSource({ cases, settings, settingsOf = () => settings, repeats, secondsOf, gpuOf }: SweepSourceOptions): CaseSource {
  const outlook = new Outlook()
  const timed = cases.map((c) => ({ case: c, seconds: secondsOf(c) }))
  const runs = repeats > 1 ? runsOf(cases, repeats) : undefined
  const gpus = gpuOf ? cases.map(gpuOf) : []
  const tracks = [...new Set(gpus.filter((gpu) => gpu !== undefined))]
  const trackOf = (i: number) => (tracks.length > 1 ? gpus[i] : undefined)
  timed.forEach(({ case: c, seconds }, i) => outlook.add(c.device, seconds, trackOf(i)))
  let rounds: Rounds | undefined

  function* turns(track: string | undefined): Generator<Step, void, Measured> {
    const own = timed.map((one, i) => ({ ...one, i })).filter(({ i }) => trackOf(i) === track)
    for (const [run, members] of Map.groupBy(own, ({ i }) => runs?.[i])) {
      const mark = run === undefined ? {} : { generation: run, run }
      const current = new Rounds(settings, outlook, mark)
      if (track === undefined) rounds = current
      for (const step of grouped(members, settings)) {
        if ('cases' in step) yield* current.add(step)
        else {
          const turn: Turn = { case: step.case, settings: settingsOf(step.case), seconds: step.seconds }
          yield run === undefined ? turn : { ...turn, generation: run, mark: { run } }
          outlook.add(step.case.device, -step.seconds)
        }
      }
      yield* current.finish()
    }
  }
  return {
    turns: turns(undefined), total: () => cases.length, left: () => outlook, unfinished: () => rounds?.unfinished() ?? [],
    ...(tracks.length > 1 ? { sideBySide: tracks.map((key) => ({ key, turns: turns(key) })) } : {}),
  }
}
