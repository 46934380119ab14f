import { crossovers, crossoverSentence } from '../../analysis/crossover'
import { RATINGS, summaryOf } from '../../analysis/ratings'
import { sizeOf, workOf } from '../../analysis/size'
import { geometricMean } from '../../stats/descriptive'
import { ABSENT, formatRatio, formatSize, formatTime } from '../../units'
import type { PublishedFigure } from '../types'
import { peakMemory } from './costs'
import { about, highest, implName, lowest, meanText, text, words, type Material, type Measured, type RatedResult, type SuiteCell, type SuitePart } from './material'

/** Of a suite that measures every SIMD level, each operation is judged by its fastest one, as its users would dispatch it. */
function judgedResults(material: Material): Measured[] {
  const judged = material.judged()
  if (material.suite.impls !== 'all') return judged
  const fastest = new Map<string, Measured>()
  for (const result of judged) {
    const held = fastest.get(workOf(result.case))
    if (!held || result.medianNs < held.medianNs) fastest.set(workOf(result.case), result)
  }
  return [...fastest.values()]
}

/** The suite's verdict, and how many times as fast as its library each implementation is over all of its work. */
export function summaryPart(material: Material): SuitePart {
  const { suite, ok, results, impls } = material
  const ratings = judgedResults(material).map((result) => material.rating(result))
  const verdict = summaryOf(RATINGS.find(({ id }) => id === suite.rating)!, ratings)
  const rows = impls.flatMap((impl) => {
    const own = ok.filter(({ case: c }) => implName(c) === impl).flatMap((result): RatedResult[] => {
      const value = material.speedup(result)
      return value === undefined ? [] : [{ value, result: result.id }]
    })
    return own.length === 0 ? [] : [[text(impl), text(String(own.length)), text(formatRatio(geometricMean(own.map(({ value }) => value)))), lowest(own, formatRatio), highest(own, formatRatio)]]
  })
  const counted = `${ok.length} of ${results.length} results passed verification and were measured.`
  return {
    title: 'Summary',
    text: verdict ? `${counted} ${verdict[0]!.toUpperCase()}${verdict.slice(1)}.` : `${counted} No rating: ${ratings.find((rating) => !rating.ok)?.reason ?? 'there are no results.'}`,
    ...(rows.length > 0 ? { table: { heads: [{ title: 'implementation', mono: true }, { title: 'cases', numeric: true }, { title: `speedup over ${suite.against} (geometric mean)`, numeric: true }, { title: 'lowest', numeric: true }, { title: 'highest', numeric: true }], rows } } : {}),
  }
}

/** Mean and deviation of each implementation, and its speedup over the library. */
export function timesPart(material: Material): SuitePart | undefined {
  const { impls, suite } = material
  const rows = material.byWork().map((group) => [
    text(words(group[0]!.case)), text(group[0]!.case.dtype), text(group[0]!.case.mode),
    ...impls.map((impl): SuiteCell => {
      const result = group.find(({ case: c }) => implName(c) === impl)
      if (!result) return text(ABSENT)
      const speedup = material.speedup(result)
      const rating = material.rating(result)
      const extremes = suite.extremes && result.minNs !== undefined && result.maxNs !== undefined ? `${formatTime(result.minNs)} to ${formatTime(result.maxNs)}` : []
      const note = [extremes, speedup === undefined ? [] : formatRatio(speedup), rating.ok ? rating.text : []].flat().join(', ')
      return { text: meanText(result), ...(note === '' ? {} : { note }), result: result.id }
    }),
  ])
  if (rows.length === 0) return undefined
  return { title: 'Times', text: `Mean ± standard deviation, ${suite.extremes ? 'fastest and slowest sample, ' : ''}speedup over ${suite.against}, rating.`, table: { heads: [{ title: 'operation', mono: true }, { title: 'dtype' }, { title: 'mode' }, ...impls.map((title) => ({ title, numeric: true }))], rows } }
}

/** The fastest implementation of each operation and size, and its distance to the next. */
export function fastestPart(material: Material): SuitePart | undefined {
  const rows = material.byWork().filter((group) => group.length > 1).map((group) => {
    const [first, second] = [...group].sort((a, b) => a.medianNs - b.medianNs) as [Measured, Measured]
    const [one, next] = [about(first), about(second)]
    return [text(words(first.case)), one(implName(first.case)), one(formatTime(first.medianNs)), one(peakMemory(first)), next(implName(second.case)), next(formatRatio(second.medianNs / first.medianNs))]
  })
  return rows.length === 0 ? undefined : { title: 'Fastest implementation', table: { heads: [{ title: 'operation', mono: true }, { title: 'fastest' }, { title: 'median', numeric: true }, { title: 'memory', numeric: true }, { title: 'next' }, { title: 'faster by', numeric: true }], rows } }
}

const UNCLEAR = 'unclear'

/** Where each implementation starts to beat the first one measured (the scalar level), along size, with clear verdicts on both sides. */
export function crossoversPart({ ok, impls }: Material): SuitePart | undefined {
  const [base, ...others] = impls
  const timings = (op: string, impl: string) => ok.flatMap((result) => {
    const size = sizeOf(result.case)
    return result.case.op === op && implName(result.case) === impl && size !== undefined ? [{ ...result, size }] : []
  })
  const rows = [...new Set(ok.map(({ case: c }) => c.op))].flatMap((op) => {
    const cells = others.map((impl): SuiteCell => {
      const [a, b] = [timings(op, base!), timings(op, impl)]
      if (a.length === 0 || b.length === 0) return text(ABSENT)
      const { found: [first], unclear } = crossovers(a, b)
      // The first size beyond the crossing is the result that shows it.
      if (first) return { text: crossoverSentence(first, base!, impl, formatSize), result: (b.find(({ size }) => size >= first.size) ?? b.at(-1)!).id }
      const one = b.find(({ size }) => size === a[0]!.size)
      return one === undefined ? text(ABSENT) : { text: unclear ? UNCLEAR : one.medianNs < a[0]!.medianNs ? 'faster at every size' : 'slower at every size', result: one.id }
    })
    return cells.every((cell) => cell.text === ABSENT) ? [] : [[text(op), ...cells]]
  })
  return rows.length === 0 || others.length === 0 ? undefined : { title: 'Crossovers', text: `Where each implementation changes places with ${base}${rows.flat().some((cell) => cell.text === UNCLEAR) ? `; ${UNCLEAR}: the medians change order, but not beyond the significance threshold` : ''}.`, table: { heads: [{ title: 'operation', mono: true }, ...others.map((title) => ({ title, wide: true }))], rows } }
}

/** Whether a result answers a published figure: of the hot mode, where the work was measured in it. */
const answers = ({ op, params }: PublishedFigure['find'], { case: c }: Measured, modes: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  c.op === op && c.dtype === 'f32' && Object.entries(params).every(([name, value]) => c.params[name] === value) && (c.mode === 'hot' || !modes.get(workOf({ ...c, mode: 'hot' }))?.has('hot'))

/** Our figures beside those that the suite's own users publish. */
export function publishedPart({ suite, ok, impls }: Material): SuitePart | undefined {
  const modes = new Map<string, Set<string>>()
  for (const { case: c } of ok) {
    const work = workOf({ ...c, mode: 'hot' })
    modes.set(work, (modes.get(work) ?? new Set()).add(c.mode))
  }
  const rows = suite.published.map(({ what, theirs, find }) => {
    const ours = ok.filter((result) => answers(find, result, modes))
    return [text(what), text(theirs), ...impls.map((impl): SuiteCell => {
      const result = ours.find(({ case: c }) => implName(c) === impl)
      return result ? { text: formatTime(result.medianNs), result: result.id } : text(ABSENT)
    })]
  })
  return rows.length === 0 ? undefined : { title: 'Published figures', text: `Theirs${suite.publishedOn ? ` (${suite.publishedOn})` : ''} beside the medians of this session.`, table: { heads: [{ title: 'case' }, { title: 'published', wide: true }, ...impls.map((title) => ({ title, numeric: true, mono: true }))], rows } }
}
