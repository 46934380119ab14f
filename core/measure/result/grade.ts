import type { DeviceState, Timer } from '../../backend'
import type { Grade, SampleLabel, Summary } from '../../result'
import { median } from '../../stats/descriptive'
import { bestProbe, describeLabels, type Choice } from './labels'
import { CLOSE } from '../sampling/warm-up'

export interface GradeInput {
  /** Of the samples that count. */
  summary: Summary
  /** The samples that count, in the order taken. */
  samplesNs: ArrayLike<number>
  /** Every sample taken. */
  taken: number
  labels: readonly SampleLabel[]
  choice: Choice
  /** Wall time of sampling. */
  elapsedSeconds: number
  converged: boolean
  stopReason: string
  timer: Timer
  tickNs: number
  inner: number
  settled: boolean
  states: readonly DeviceState[]
  /** Time of the fixed work beside each sample taken, in ns, where it was run. */
  probesNs?: ArrayLike<number>
  /** Interleaved rounds that were quiet, of all: the others are set aside on purpose. */
  rounds?: { quiet: number; all: number }
}

const NOISY_MAD = 0.05
const MANY_OUTLIERS = 0.1
const DRIFT = 0.03
/** A case that lost more of its samples than this was not measured in peace, even if the others are clean. */
const SMALL_SHARE = 0.1
/** A hypervisor that took more than this share of the time of sampling shows in the samples. */
const STOLEN = 0.02
/**
 * Fixed work that usually took longer than its best time by more than this says that the samples are those of a slower
 * processor. On an AMD EPYC with nobody near, its median stayed within 0.4 % of its best, hot and cold, on one thread and
 * two; up to 2 % above it samples were less than 1 % slow, and beyond 2 % they were 5 to 15 % slow.
 */
export const SLOWED = 0.02
/** Ticks a sample should last, and below which its digits mean nothing. */
const FINE_TICKS = 1000
const COARSE_TICKS = 100

const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(2))} %`

/** The reason for a grade where one sample has few ticks of its timer. */
const coarse = (ticks: number) => `Timer too coarse: ${Number(ticks.toPrecision(3))} ticks per sample (want at least ${FINE_TICKS}).`

/**
 * A: converged, low noise. B: noisy, a coarse timer, or a few samples excluded. C: throttled, disturbed or not converged.
 * With every reason, worst first, each as `Cause: figures.`; core/analysis/machine-summary.ts counts by cause.
 */
export function gradeOf(input: GradeInput): { grade: Grade; reasons: string[] } {
  const serious: string[] = []
  const minor: string[] = []
  if (!input.converged) serious.push(`Not converged: ${input.stopReason}.`)
  const unclean = labelReason(input)
  if (unclean) (input.choice.setAside && (input.rounds || input.taken - input.choice.clean <= SMALL_SHARE * input.taken) ? minor : serious).push(input.rounds && input.choice.setAside ? `Noisy host: ${input.rounds.quiet} of ${input.rounds.all} rounds were quiet and count.` : unclean)
  const ticks = (input.summary.medianNs * input.inner) / input.tickNs
  if (ticks < COARSE_TICKS) serious.push(coarse(ticks))

  minor.push(...noise(input))
  if (ticks >= COARSE_TICKS && ticks < FINE_TICKS * CLOSE) minor.push(coarse(ticks))
  const slowed = slowedProcessor(input)
  if (slowed) minor.push(slowed)
  if (!input.settled) minor.push('Warm-up incomplete: times were still changing when it ended.')
  if (input.timer === 'wall-clock') minor.push('Wall clock: times include launch and wait.')
  return { grade: serious.length > 0 ? 'C' : minor.length > 0 ? 'B' : 'A', reasons: [...serious, ...minor] }
}

/** What the labels mean for the result, in one sentence; undefined where every sample is clean. */
export function labelReason({ labels, taken, choice }: Pick<GradeInput, 'labels' | 'taken' | 'choice'>): string | undefined {
  if (labels.length === 0) return undefined
  const why = describeLabels(labels, taken)
  if (choice.clean === 0) return `No clean sample: ${why}.`
  if (!choice.setAside) return `Too few clean samples: ${choice.clean} of ${taken}, so all count; ${why}.`
  return `Samples excluded: ${taken - choice.clean} of ${taken}; ${why}.`
}

/** Says so where the processor was slower than it can be beside most of the samples that count. One tick of the timer more is no slowness. */
function slowedProcessor({ probesNs, states, choice, tickNs }: GradeInput): string | undefined {
  const best = bestProbe(probesNs, states)
  const usual = median(Array.from(probesNs ?? []).filter((ns, i) => ns > 0 && choice.used[i] === 1))
  if (best === undefined || usual === undefined || usual <= best * (1 + SLOWED) + tickNs) return undefined
  return `CPU slowed: it ran at ${Math.round((best / usual) * 100)} % of its best speed (lower clock, or another program on the core).`
}

function* noise({ summary, samplesNs, states, elapsedSeconds }: GradeInput): Generator<string> {
  const { medianNs, madNs, count = samplesNs.length, ciLowNs } = summary
  if (ciLowNs === undefined) yield `Too few samples: ${count} ${count === 1 ? 'gives' : 'give'} no confidence interval.`
  if (madNs !== undefined && madNs > NOISY_MAD * medianNs) yield `Noisy: the MAD is ${percent(madNs / medianNs)} of the median.`
  const outliers = (summary.mildOutliers ?? 0) + (summary.severeOutliers ?? 0)
  if (outliers > MANY_OUTLIERS * count) yield `Outliers: ${outliers} of ${count} samples.`
  const all = Array.from(samplesNs)
  const first = median(all.slice(0, count >> 1))
  const second = median(all.slice(count >> 1))
  if (count >= 10 && first && second && Math.abs(second - first) > DRIFT * medianNs) {
    yield `Drifting: the second half is ${percent(Math.abs(second - first) / first)} ${second > first ? 'slower' : 'faster'} than the first.`
  }
  const stolenMs = states.reduce((sum, state) => sum + (state.stealMs ?? 0), 0)
  if (stolenMs > STOLEN * elapsedSeconds * 1000) yield `Hypervisor: it took ${Math.round(stolenMs)} ms of CPU time in ${Math.round(elapsedSeconds * 1000)} ms of sampling.`
}
