import type { Interval } from '@core/stats/bootstrap'
import { overRuns } from '@core/stats/summarize'
import { median, quantile, standardDeviation } from '@core/stats/descriptive'
import { createRandom } from '@core/stats/random'
import { listed, type Figure } from '../bench'

/** How the runs of a case followed each other: all in a row, or by turns with those of other cases. */
export type Order = 'rows' | 'turns'

/** The runs of one case in the order taken. The last three are missing where a record does not have them. */
export interface Runs {
  /** Device, operation, size and mode. */
  name: string
  order: Order
  mediansNs: readonly number[]
  /** One letter each; an A promises that the interval can be trusted. */
  grades: string
  lowsNs?: readonly number[]
  highsNs?: readonly number[]
  /** How many times wider each interval is than for independent samples. */
  widened?: readonly number[]
}

/** Shuffles of the runs, and their seed. */
const DRAWS = 200
const SEED = 0x5eed

const holds = ({ low, high }: Interval, value: number) => low <= value && value <= high
const share = (hits: readonly boolean[]) => (hits.filter(Boolean).length / hits.length) * 100

/** Every `repeats` runs in a row. */
const inARow = (runs: number, repeats: number) => Array.from({ length: Math.max(0, runs - repeats + 1) }, (_, i) => Array.from({ length: repeats }, (_, k) => i + k))

/** One run from each of `repeats` equal stretches, s runs long: i, i + s, i + 2 s and so on. Over slow drift such windows are all alike, and hold more than 95 % of truths. */
function evenly(runs: number, repeats: number): number[][] {
  const s = Math.floor(runs / repeats)
  return Array.from({ length: s }, (_, i) => Array.from({ length: repeats }, (_, k) => i + k * s))
}

/** Runs at random moments, in the order drawn: all of them shuffled and cut into windows, DRAWS times. */
function drawn(runs: number, repeats: number): number[][] {
  const random = createRandom(SEED)
  return Array.from({ length: DRAWS }, () => {
    const shuffled = Array.from({ length: runs }, (_, i) => ({ i, at: random() })).sort((a, b) => a.at - b.at).map(({ i }) => i)
    return Array.from({ length: Math.floor(runs / repeats) }, (_, w) => shuffled.slice(w * repeats, (w + 1) * repeats))
  }).flat()
}

/** The median of all runs but these, which is the truth for them. */
const othersOf = ({ mediansNs }: Runs, own: readonly number[]) => median(mediansNs.filter((_, i) => !own.includes(i)))!

/** Whether the intervals over the runs of these windows, whose unit is the run, hold the truth. */
const overWindows = (runs: Runs, windows: readonly number[][]): boolean[] =>
  windows.map((window) => {
    const { median: middle, interval } = overRuns(window.map((i) => runs.mediansNs[i]!))!
    return holds(interval ?? { low: middle, high: middle }, othersOf(runs, window))
  })

/** Whether each run's own interval holds the truth, and would without widening; undefined where the record has no intervals. */
function short(runs: Runs): { holds: boolean; narrow: boolean; grade: string; halfWidth: number }[] | undefined {
  const { mediansNs, lowsNs, highsNs, widened, grades } = runs
  if (!lowsNs || !highsNs || !widened) return undefined
  return mediansNs.map((middle, i) => {
    const truth = othersOf(runs, [i])
    const [low, high] = [lowsNs[i]!, highsNs[i]!]
    const unwidened = (bound: number) => middle * (bound / middle) ** (1 / widened[i]!)
    return { holds: holds({ low, high }, truth), narrow: holds({ low: unwidened(low), high: unwidened(high) }, truth), grade: grades[i]!, halfWidth: (high - low) / 2 }
  })
}

const published = (name: string, value: number, unit = '%'): Figure => ({ name, value, unit, published: true })
/** 93 to 97 %. */
const judged = (name: string, value: number): Figure[] => [
  { name, value, unit: '%', aim: 93, better: 'more' },
  { name: 'distance of that share from 95 %, points', value: Math.abs(value - 95), unit: '%', aim: 2, better: 'less' },
]

/** Runs of each order over all cases: figures of all together, then of each case. `gpu`: single short runs in a row carry an aim. */
export function coverageFigures(all: readonly Runs[], repeats: number, gpu: boolean): Figure[] {
  const turns = all.filter(({ order }) => order === 'turns')
  const rows = all.filter(({ order }) => order === 'rows')
  const over = (of: typeof drawn) => share(turns.flatMap((runs) => overWindows(runs, of(runs.mediansNs.length, repeats))))
  const figures: Figure[] = []
  if (turns.length > 0) {
    figures.push(
      ...judged(`intervals over ${repeats} runs at random moments that hold the median of all other runs`, over(drawn)),
      published(`intervals over ${repeats} runs evenly over the bench that hold it`, over(evenly)),
      published(`intervals over ${repeats} runs in a row that hold it`, over(inARow)),
    )
  }
  for (const [lot, how] of [[rows, 'one after another'], [turns, 'interleaved with other cases']] as const) {
    const hits = lot.flatMap((runs) => short(runs) ?? [])
    if (hits.length === 0) continue
    const name = `intervals of one short run that hold the median of all others, ${hits.length} runs ${how}`
    const value = share(hits.map((hit) => hit.holds))
    figures.push(...(gpu && lot === rows ? judged(name, value) : [published(name, value)]))
  }
  return [...figures, ...all.flatMap((runs) => ofCase(runs, repeats))]
}

function ofCase(runs: Runs, repeats: number): Figure[] {
  const name = runs.order === 'rows' ? `${runs.name}, one after another` : runs.name
  const figures: Figure[] = []
  if (runs.order === 'turns') figures.push(published(`${name}: intervals over ${repeats} runs at random moments that hold the median of all others`, share(overWindows(runs, drawn(runs.mediansNs.length, repeats)))))
  const hits = short(runs)
  if (!hits) return figures
  const graded = hits.filter(({ grade }) => grade === 'A')
  // Two independent samples of the same size differ by what the interval says; the rest of the spread is between runs.
  const expected = median(hits.map(({ halfWidth }) => halfWidth))! / 1.96
  return [
    ...figures,
    published(`${name}: intervals of one short run, of ${hits.length}`, share(hits.map((hit) => hit.holds))),
    published(`${name}: the same without widening for samples that depend on each other`, share(hits.map(({ narrow }) => narrow))),
    ...(graded.length > 0 ? [published(`${name}: of those graded A, ${graded.length} of ${hits.length}`, share(graded.map((hit) => hit.holds)))] : []),
    { name: `${name}: widening, 95th percentile`, value: quantile(runs.widened!, 0.95)!, unit: 'x' },
    ...(expected > 0 ? [published(`${name}: spread of the short runs over what their intervals say (1 = all noise is within a run)`, standardDeviation(runs.mediansNs)! / expected, 'x')] : []),
  ]
}

export type CoverageRow = Record<string, string | number>

/** Runs as a row of a result, and back. Rows of before `order` was kept are by turns. */
export const rowOf = ({ name, order, mediansNs, grades, lowsNs = [], highsNs = [], widened = [] }: Runs): CoverageRow => ({
  case: name, order, runs: mediansNs.length, medianNs: median(mediansNs)!, grades, mediansNs: listed(mediansNs), lowsNs: listed(lowsNs), highsNs: listed(highsNs), widened: listed(widened),
})

export function runsOf(row: CoverageRow): Runs {
  const list = (key: string): number[] => JSON.parse(String(row[key] ?? '[]')) as number[]
  const [lowsNs, highsNs, widened] = [list('lowsNs'), list('highsNs'), list('widened')]
  return { name: String(row['case']), order: row['order'] === 'rows' ? 'rows' : 'turns', mediansNs: list('mediansNs'), grades: String(row['grades']), ...(lowsNs.length > 0 ? { lowsNs, highsNs, widened } : {}) }
}
