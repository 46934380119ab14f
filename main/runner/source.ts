import type { BenchmarkCase } from '@core/case'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import type { Expected } from './pace'

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
