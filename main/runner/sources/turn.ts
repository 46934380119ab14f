import type { BenchmarkCase } from '@core/case'
import type { RoundsPass } from '@core/measure/protocol'
import type { MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'

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
  /** A block of a case that is measured in rounds: what it gives is not stored, but the result that the source makes of all blocks. */
  round?: true
  /** A pass of rounds over the case and others: its results are not stored either. */
  rounds?: RoundsPass
}

/** What a turn gave: the result of its case, and of a pass those of the others. */
export type Measured = readonly [Result, ...Result[]]

/** What comes next: a measurement, or a result made of earlier ones, to be stored; `seconds` of wall time were expected of it. */
export type Step = Turn | { result: Result; seconds?: number }
