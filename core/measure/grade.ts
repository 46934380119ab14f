import type { DeviceState, Timer } from '../backend'
import type { Grade, Summary } from '../result'
import { median } from '../stats/quantile'

export interface GradeInput {
  summary: Summary
  samplesNs: ArrayLike<number>
  converged: boolean
  stopReason: string
  timer: Timer
  tickNs: number
  inner: number
  settled: boolean
  states: readonly DeviceState[]
}

const NOISY_MAD = 0.05
const MANY_OUTLIERS = 0.1
const DRIFT = 0.03
/** Batches below this share of the best clock seen ran on a slowed device. */
const SLOW_CLOCK = 0.75
/** Ticks a sample should last, and below which its digits mean nothing. */
const FINE_TICKS = 1000
const COARSE_TICKS = 100

const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(2))} %`

/** A: clean and converged. B: noisy or coarse. C: throttled, disturbed or not converged. With every reason, worst first. */
export function gradeOf(input: GradeInput): { grade: Grade; reasons: string[] } {
  const serious = [...disturbances(input.states)]
  if (!input.converged) serious.unshift(`Not converged: ${input.stopReason}.`)
  const ticks = (input.summary.medianNs * input.inner) / input.tickNs
  if (ticks < COARSE_TICKS) serious.push(`One sample lasts only ${ticks.toPrecision(2)} ticks of its timer.`)

  const minor = [...noise(input)]
  if (ticks >= COARSE_TICKS && ticks < FINE_TICKS) minor.push(`One sample lasts ${Math.round(ticks)} ticks of its timer; ${FINE_TICKS} are wanted.`)
  if (!input.settled) minor.push('Times were still changing when warm-up ended.')
  if (input.timer === 'wall-clock') minor.push('Timed by the wall clock: launch and wait are included.')
  return { grade: serious.length > 0 ? 'C' : minor.length > 0 ? 'B' : 'A', reasons: [...serious, ...minor] }
}

function* disturbances(states: readonly DeviceState[]): Generator<string> {
  const throttled = states.filter((state) => (state.throttle?.length ?? 0) > 0)
  if (throttled.length > 0) {
    const reasons = [...new Set(throttled.flatMap((state) => state.throttle ?? []))]
    yield `Throttled (${reasons.join(', ')}) in ${throttled.length} of ${states.length} batches.`
  }
  const clocks = states.map((state) => state.smClockMhz).filter((clock) => clock !== undefined)
  const best = Math.max(0, ...clocks)
  const slow = clocks.filter((clock) => clock < best * SLOW_CLOCK).length
  if (slow > 0) yield `The clock fell below ${percent(SLOW_CLOCK)} of ${best} MHz in ${slow} of ${clocks.length} batches.`
  const foreign = Math.max(0, ...states.map((state) => state.foreignProcesses ?? 0))
  if (foreign > 0) yield `${foreign === 1 ? 'Another process' : `${foreign} other processes`} used the device.`
}

function* noise({ summary, samplesNs }: GradeInput): Generator<string> {
  const { medianNs, madNs, count } = summary
  if (madNs !== undefined && madNs > NOISY_MAD * medianNs) yield `Noisy: the median deviation is ${percent(madNs / medianNs)} of the median.`
  const outliers = summary.mildOutliers + summary.severeOutliers
  if (outliers > MANY_OUTLIERS * count) yield `${outliers} of ${count} samples are outliers.`
  const all = Array.from(samplesNs)
  const first = median(all.slice(0, count >> 1))
  const second = median(all.slice(count >> 1))
  if (count >= 10 && first && second && Math.abs(second - first) > DRIFT * medianNs) {
    yield `Drifting: the second half is ${percent(Math.abs(second - first) / first)} ${second > first ? 'slower' : 'faster'} than the first.`
  }
}
