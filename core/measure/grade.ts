import type { DeviceState, Timer } from '../backend'
import type { Grade, SampleLabel, Summary } from '../result'
import { median } from '../stats/quantile'
import { describeLabels, type Choice } from './labels'
import { CLOSE } from './warm-up'

export interface GradeInput {
  /** Of the samples that count. */
  summary: Summary
  /** The samples that count, in the order taken. */
  samplesNs: ArrayLike<number>
  /** Every sample taken. */
  taken: number
  labels: readonly SampleLabel[]
  choice: Pick<Choice, 'clean' | 'setAside'>
  /** Wall time of sampling. */
  elapsedSeconds: number
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
/** A case that lost more of its samples than this was not measured in peace, even if the others are clean. */
const SMALL_SHARE = 0.1
/** A hypervisor that took more than this share of the time of sampling shows in the samples. */
const STOLEN = 0.02
/** Ticks a sample should last, and below which its digits mean nothing. */
const FINE_TICKS = 1000
const COARSE_TICKS = 100

const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(2))} %`

/** A: clean and converged. B: noisy, coarse, or clean but for a few samples set aside. C: throttled, disturbed or not converged. With every reason, worst first. */
export function gradeOf(input: GradeInput): { grade: Grade; reasons: string[] } {
  const serious: string[] = []
  const minor: string[] = []
  if (!input.converged) serious.push(`Not converged: ${input.stopReason}.`)
  const unclean = labelReason(input)
  if (unclean) (input.choice.setAside && input.taken - input.choice.clean <= SMALL_SHARE * input.taken ? minor : serious).push(unclean)
  const ticks = (input.summary.medianNs * input.inner) / input.tickNs
  if (ticks < COARSE_TICKS) serious.push(`One sample lasts only ${ticks.toPrecision(2)} ticks of its timer.`)

  minor.push(...noise(input))
  if (ticks >= COARSE_TICKS && ticks < FINE_TICKS * CLOSE) minor.push(`One sample lasts ${Math.round(ticks)} ticks of its timer; ${FINE_TICKS} are wanted.`)
  if (!input.settled) minor.push('Times were still changing when warm-up ended.')
  if (input.timer === 'wall-clock') minor.push('Timed by the wall clock: launch and wait are included.')
  return { grade: serious.length > 0 ? 'C' : minor.length > 0 ? 'B' : 'A', reasons: [...serious, ...minor] }
}

/** What the labels mean for the result, in one sentence; undefined where every sample is clean. */
export function labelReason({ labels, taken, choice }: Pick<GradeInput, 'labels' | 'taken' | 'choice'>): string | undefined {
  if (labels.length === 0) return undefined
  const why = describeLabels(labels, taken)
  if (choice.clean === 0) return `No clean sample: ${why}.`
  if (!choice.setAside) return `Only ${choice.clean} of ${taken} samples are clean: ${why}. All of them count.`
  return `${taken - choice.clean} of ${taken} samples set aside: ${why}.`
}

function* noise({ summary, samplesNs, states, elapsedSeconds }: GradeInput): Generator<string> {
  const { medianNs, madNs, count = samplesNs.length, ciLowNs } = summary
  if (ciLowNs === undefined) yield `${count === 1 ? 'One sample is' : `${count} samples are`} too few for an interval of the median.`
  if (madNs !== undefined && madNs > NOISY_MAD * medianNs) yield `Noisy: the median deviation is ${percent(madNs / medianNs)} of the median.`
  const outliers = (summary.mildOutliers ?? 0) + (summary.severeOutliers ?? 0)
  if (outliers > MANY_OUTLIERS * count) yield `${outliers} of ${count} samples are outliers.`
  const all = Array.from(samplesNs)
  const first = median(all.slice(0, count >> 1))
  const second = median(all.slice(count >> 1))
  if (count >= 10 && first && second && Math.abs(second - first) > DRIFT * medianNs) {
    yield `Drifting: the second half is ${percent(Math.abs(second - first) / first)} ${second > first ? 'slower' : 'faster'} than the first.`
  }
  const stolenMs = states.reduce((sum, state) => sum + (state.stealMs ?? 0), 0)
  if (stolenMs > STOLEN * elapsedSeconds * 1000) yield `A hypervisor took ${Math.round(stolenMs)} ms of the processor in the ${Math.round(elapsedSeconds * 1000)} ms of sampling.`
}
