import { meanBasis, meanWords } from '../../compare'
import { seriesKey } from '../../backends'
import { formatInteger, formatPercent } from '../../units'
import type { Implementation, MachineAnswer, MeanAnswer, ProcessorAnswer, SessionAnswer } from './answer'

/** `cuda kernel`. */
export const implementationText = ({ backend, impl }: Implementation): string => `${backend} ${impl}`

export const processorTitle = ({ processor }: Pick<ProcessorAnswer, 'processor'>): string => processor.toUpperCase()

/** `9 of 9 operations`. */
const share = (count: number, all: number, word: string) => `${formatInteger(count)} of ${formatInteger(all)} ${all === 1 ? word : `${word}s`}`

/** `cuda kernel is fastest in 8 of 9 operations, webgpu wgsl in 1`. */
export function fastestText({ operations }: ProcessorAnswer): string {
  const counts = new Map<string, number>()
  for (const { fastest } of operations) counts.set(implementationText(fastest), (counts.get(implementationText(fastest)) ?? 0) + 1)
  const [[name, most], ...others] = [...counts].sort((a, b) => b[1] - a[1]) as [[string, number], ...[string, number][]]
  return [`${name} is fastest in ${share(most, operations.length, 'operation')}`, ...others.map(([other, count]) => `${other} in ${count}`)].join(', ')
}

/** `1.3x faster than python torch (geometric mean over 120 cases, 95 % CI 1.29x to 1.31x)`. */
export function meanText(mean: MeanAnswer, baseline: Implementation): string {
  const words = meanWords(mean)
  return `${words} ${words === 'as fast' ? 'as' : 'than'} ${implementationText(baseline)} (${meanBasis(mean.cases, mean)}${mean.threadsDiffer ? '; thread counts differ' : ''})`
}

/** How the fastest implementation compares: with the baseline, or where it is the baseline with the next one. Undefined where it shares no case with another. */
export function headlineText({ fastest, means, baseline }: ProcessorAnswer): string | undefined {
  const key = seriesKey(fastest.implementation)
  const own = means.find(({ implementation }) => seriesKey(implementation) === key)
  if (own) return meanText(own, baseline)
  const [next] = means
  if (!next || key !== seriesKey(baseline)) return undefined
  const { ratio, low, high } = next
  return meanText({ ...next, ratio: 1 / ratio, low: high === undefined ? undefined : 1 / high, high: low === undefined ? undefined : 1 / low }, next.implementation)
}

/** What is not decided: `12 of 81 cases are unclear, 3 are equal`; undefined where all is. */
export function unclearText({ unclear, same, cases }: ProcessorAnswer): string | undefined {
  if (unclear === 0 && same === 0) return undefined
  return [`the fastest is ${unclear === 0 ? 'clear' : 'unclear'} in ${share(unclear === 0 ? cases - same : unclear, cases, 'case')}`, ...(same ? [`${formatInteger(same)} ${same === 1 ? 'is' : 'are'} equal within the threshold`] : [])].join(', ')
}

/** `Noise floor 0.62 %; grades: 208 A, 12 B, 2 C; 1 warning about the machine`. */
export function machineText({ noiseFloor, grades, warnings }: MachineAnswer): string {
  const graded = (['A', 'B', 'C'] as const).filter((grade) => grades[grade]).map((grade) => `${formatInteger(grades[grade])} ${grade}`)
  return [
    noiseFloor === undefined ? 'Noise floor not measured' : `Noise floor ${formatPercent(noiseFloor)}`,
    ...(graded.length ? [`grades: ${graded.join(', ')}`] : []),
    ...(warnings.length ? [`${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'} about the machine`] : []),
  ].join('; ')
}

/** `Noisy host: compare speedups, not times`, or what to do where speedups do not hold either; undefined on a quiet one. */
export const noisyText = ({ noisyHost }: MachineAnswer): string | undefined => noisyHost && (noisyHost.rounds ? 'Noisy host: compare speedups, not times' : 'Noisy host: measure in interleaved rounds to compare implementations')

/** What that means, and what it rests on. */
export function noisyHint({ noisyHost }: MachineAnswer): string | undefined {
  if (!noisyHost) return undefined
  const { times, below, unreliable, rounds } = noisyHost
  if (rounds) return `${formatInteger(below)} of ${formatInteger(times)} times are graded B or C (${formatInteger(unreliable)} C). Speedups come from interleaved rounds, in which noise of the host affects all implementations alike.`
  return `${formatInteger(unreliable)} of ${formatInteger(times)} times on the CPU are graded C. In interleaved rounds (--rounds) noise of the host affects all implementations alike, so that speedups hold.`
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** The answer in sentences: the fastest, the means over the baseline, what is unclear, and the noise on the machine. */
export function answerSentences({ processors, implementations, machine }: SessionAnswer): string[] {
  const several = processors.length > 1
  const lines = processors.flatMap((one) => {
    const on = several ? `${processorTitle(one)}: ` : ''
    const unclear = unclearText(one)
    return [
      `${on}${fastestText(one)}.`,
      ...one.means.map((mean) => `${on}${implementationText(mean.implementation)} is ${meanText(mean, one.baseline)}.`),
      ...(unclear ? [on ? `${on}${unclear}.` : sentence(unclear)] : []),
    ]
  })
  if (!processors.length && implementations.length) {
    const names = implementations.map(implementationText)
    lines.push(names.length === 1 ? `Only ${names[0]!} was measured: there is nothing to compare it with.` : `No case was measured by two of ${names.join(', ')}.`)
  }
  const noisy = noisyText(machine)
  return implementations.length ? [...(noisy ? [`${noisy}. ${noisyHint(machine)!}`] : []), ...lines, `${machineText(machine)}.`] : []
}
